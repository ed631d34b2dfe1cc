/** The programs with Azure Service Bus between them: the stand-in, which runs in this process. */
import { ServiceBusClient } from "@azure/service-bus";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { TestDatabase } from "../support/database.ts";
import { createTestDatabase } from "../support/database.ts";
import { expectCrashesCostNothing, expectListedOnce } from "../support/outside-crashes.ts";
import { Fleet, finished, submit } from "../support/programs.ts";
import { ServiceBusServer } from "../support/service-bus-server.js";
import { waitFor } from "../support/wait.ts";

describe("programs over Azure Service Bus", { timeout: 300_000 }, () => {
  const server = new ServiceBusServer();
  let database: TestDatabase;
  let fleet: Fleet;
  let env: Record<string, string>;

  beforeAll(async () => {
    server.lockMs = 2000;
    await server.listen();
    database = await createTestDatabase();
    env = { BROKER: "servicebus", SERVICE_BUS_CONNECTION_STRING: server.connectionString };
    fleet = new Fleet(database.url);
  });
  afterEach(() => fleet.stopPrograms());
  afterAll(async () => {
    await fleet.stop();
    await server.close();
    await database.drop();
  });

  it("loses nothing and does nothing twice when programs die at its fail points", async () => {
    await expectCrashesCostNothing({ fleet, db: database.db, env });
  });

  it("lists a message that was given up once, although its lister dies", async () => {
    await expectListedOnce({ fleet, db: database.db, env }, async (queue) => {
      const client = new ServiceBusClient(server.connectionString);
      const receiver = client.createReceiver(queue);
      const [message] = await receiver.receiveMessages(1);
      await receiver.deadLetterMessage(message!, {
        deadLetterReason: "Unreadable",
        deadLetterErrorDescription: "at line 1",
      });
      await client.close();
    });
  });

  it("says in /health that it is away, and goes on with the jobs that waited", async () => {
    const orchestrator = await fleet.orchestrator(env);
    await fleet.worker(env);
    const { port } = server;
    await server.close();
    const waiting = await submit(orchestrator, "echo_test", { message: "while it is away" });
    await waitFor(
      async () => {
        const text = await (await fetch(`${orchestrator.url}/health`)).text();
        return /servicebus is away \(.+\), \d+ messages? waits? to be sent/.test(text);
      },
      { what: "/health says that the broker is away", timeoutMs: 120_000 },
    );
    await server.listen(port);
    expect((await finished(orchestrator, waiting, 120_000)).status).toBe("completed");
  });
});
