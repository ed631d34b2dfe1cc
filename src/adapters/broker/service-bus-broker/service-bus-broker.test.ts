/**
 * On the stand-in, or on the namespace of TEST_SERVICE_BUS_CONNECTION_STRING, whose key must have the
 * right to manage queues: those of the tests are made and deleted.
 */
import { ServiceBusAdministrationClient, ServiceBusClient } from "@azure/service-bus";
import { afterAll } from "vitest";
import { describeBroker } from "../../../../test/conformance/broker.ts";
import { createTestDatabase } from "../../../../test/support/database.ts";
import type { TestDatabase } from "../../../../test/support/database.ts";
import { ServiceBusServer } from "../../../../test/support/service-bus-server.js";
import { createLogger } from "../../runtime/logger.ts";
import { createPostgresBroker } from "../postgres-broker/create-postgres-broker.ts";
import { createServiceBusTransport } from "./create-service-bus-transport.ts";

const log = createLogger({ name: "test", level: "error", format: "json" });
const given = process.env["TEST_SERVICE_BUS_CONNECTION_STRING"];
const server = new ServiceBusServer();
server.lockMs = 2000;
const made: string[] = [];
let database: TestDatabase | undefined;

async function makeQueue(connectionString: string, queue: string): Promise<void> {
  // As docs/brokers.md tells an administrator.
  await new ServiceBusAdministrationClient(connectionString).createQueue(queue, {
    lockDuration: "PT1M",
    maxDeliveryCount: 2000,
    requiresDuplicateDetection: true,
    duplicateDetectionHistoryTimeWindow: "PT10M",
  });
  made.push(queue);
}

afterAll(async () => {
  for (const queue of made) {
    await new ServiceBusAdministrationClient(given ?? "").deleteQueue(queue);
  }
  if (given === undefined) await server.close();
  await database?.drop();
});

describeBroker("the broker on Azure Service Bus", async () => {
  const { db, url } = (database = await createTestDatabase({ max: 20 }));
  if (given === undefined) await server.listen();
  const connectionString = given ?? server.connectionString;
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
    ...(given === undefined
      ? {
          cutConnections: async () => {
            server.dropConnections();
          },
        }
      : { makeQueue: (queue: string) => makeQueue(given, queue) }),
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
