import { ServiceBusClient } from "@azure/service-bus";
import { afterAll } from "vitest";
import { describeBroker } from "../../../../test/conformance/broker.ts";
import { createTestDatabase } from "../../../../test/support/database.ts";
import type { TestDatabase } from "../../../../test/support/database.ts";
import { ServiceBusServer } from "../../../../test/support/service-bus-server.js";
import { createLogger } from "../../runtime/logger.ts";
import { createPostgresBroker } from "../postgres-broker/create-postgres-broker.ts";
import { createServiceBusTransport } from "./create-service-bus-transport.ts";

const log = createLogger({ name: "test", level: "error", format: "json" });
const server = new ServiceBusServer();
server.lockMs = 2000;
let database: TestDatabase | undefined;

afterAll(async () => {
  await server.close();
  await database?.drop();
});

describeBroker("the broker on Azure Service Bus", async () => {
  const { db, url } = (database = await createTestDatabase({ max: 20 }));
  await server.listen();
  const { connectionString } = server;
  const make = async () =>
    createPostgresBroker({
      db,
      url,
      holder: "test",
      log,
      relays: true,
      transport: await createServiceBusTransport({ access: { connectionString }, log }),
    });
  return {
    capabilities: (await make()).capabilities,
    makeBroker: make,
    rivalProgram: `
      import { createPostgresBroker } from "./dist/adapters/broker/postgres-broker/create-postgres-broker.js";
      import { createServiceBusTransport } from "./dist/adapters/broker/service-bus-broker/create-service-bus-transport.js";
      import { openDatabase } from "./dist/adapters/postgres/database.js";
      import { createLogger } from "./dist/adapters/runtime/logger.js";
      const url = ${JSON.stringify(url)};
      const db = openDatabase({ url, applicationName: "rival" });
      const log = createLogger({ level: "error", format: "json" });
      const access = { connectionString: ${JSON.stringify(connectionString)} };
      const transport = await createServiceBusTransport({ access, log });
      const broker = createPostgresBroker({ db, url, holder: "rival", log, transport });
    `,
    transaction: (work) => db.transaction(work),
    cutConnections: async () => {
      server.dropConnections();
    },
    giveUpOne: async (queue) => {
      const client = new ServiceBusClient(connectionString);
      const receiver = client.createReceiver(queue);
      const [message] = await receiver.receiveMessages(1);
      await receiver.deadLetterMessage(message!, {
        deadLetterReason: "Unreadable",
        deadLetterErrorDescription: "at line 1",
      });
      await client.close();
    },
  };
});
