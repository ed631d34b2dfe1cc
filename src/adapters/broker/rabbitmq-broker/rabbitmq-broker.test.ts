import { connect } from "amqplib";
import type { ConsumeMessage } from "amqplib";
import { afterAll, describe, expect, it } from "vitest";
import { describeBroker } from "../../../../test/conformance/broker.ts";
import { createTestDatabase } from "../../../../test/support/database.ts";
import type { TestDatabase } from "../../../../test/support/database.ts";
import { noRabbitmq, startRabbitmq } from "../../../../test/support/rabbitmq.ts";
import type { RabbitmqServer } from "../../../../test/support/rabbitmq.ts";
import { waitFor } from "../../../../test/support/wait.ts";
import { createLogger } from "../../runtime/logger.ts";
import type { ArrivedMessage, CarriedMessage } from "../transport.ts";
import { createPostgresBroker } from "../postgres-broker/create-postgres-broker.ts";
import { createRabbitmqTransport } from "./create-rabbitmq-transport.ts";
import { createSettlement } from "./settle.ts";

const log = createLogger({ name: "test", level: "error", format: "json" });
let database: TestDatabase | undefined;
let server: RabbitmqServer | undefined;

/**
 * Takes a message and refuses it. False: the relay has not sent one yet, or the queue is not declared or
 * has no leader, for which RabbitMQ ends the whole connection.
 */
async function refuseOne(url: string, queue: string): Promise<boolean> {
  const connection = await connect(url);
  connection.on("error", () => undefined);
  try {
    const channel = await connection.createChannel();
    channel.on("error", () => undefined);
    const message = await channel.get(queue);
    if (message === false) return false;
    channel.nack(message, false, false);
    await channel.close();
    return true;
  } catch {
    return false;
  } finally {
    await connection.close().catch(() => undefined);
  }
}

afterAll(async () => {
  await server?.remove();
  await database?.drop();
});

describe.skipIf(noRabbitmq !== undefined)(noRabbitmq ?? "RabbitMQ", () => {
  describeBroker("the broker on RabbitMQ", async () => {
    const [{ db, url }, rabbitmq] = await Promise.all([
      createTestDatabase({ max: 20 }).then((made) => (database = made)),
      startRabbitmq().then((made) => (server = made)),
    ]);
    const make = () =>
      createPostgresBroker({
        db,
        url,
        holder: "test",
        log,
        relays: true,
        transport: createRabbitmqTransport({ url: rabbitmq.url, name: "test", log }),
      });
    return {
      capabilities: make().capabilities,
      makeBroker: async () => make(),
      rivalProgram: `
      import { createPostgresBroker } from "./dist/adapters/broker/postgres-broker/create-postgres-broker.js";
      import { createRabbitmqTransport } from "./dist/adapters/broker/rabbitmq-broker/create-rabbitmq-transport.js";
      import { openDatabase } from "./dist/adapters/postgres/database.js";
      import { createLogger } from "./dist/adapters/runtime/logger.js";
      const url = ${JSON.stringify(url)};
      const db = openDatabase({ url, applicationName: "rival" });
      const log = createLogger({ level: "error", format: "json" });
      const transport = createRabbitmqTransport({ url: ${JSON.stringify(`${rabbitmq.url}?heartbeat=1`)}, name: "rival", log });
      const broker = createPostgresBroker({ db, url, holder: "rival", log, transport });
    `,
      transaction: (work) => db.transaction(work),
      giveUpOne: async (queue) => {
        await waitFor(() => refuseOne(rabbitmq.url, queue), { what: "a message to refuse" });
      },
    };
  });

  it("acknowledges what was accepted, whatever its place among the others", async () => {
    server ??= await startRabbitmq();
    const transport = createRabbitmqTransport({ url: server.url, name: "test", log });
    const queue = "settled-in-any-order";
    const arrived: ArrivedMessage[] = [];
    const from = { queue, dead: false };
    const events = {
      onMessage: (message: ArrivedMessage) => arrived.push(message),
      onLost: () => undefined,
    };
    await transport.send(queue, ["a", "b", "c", "d", "e", "f"].map(carried));
    const consumer = await transport.consume(from, events);
    await consumer.listen(6);
    await waitFor(() => arrived.length === 6, { what: "all messages" });
    await consumer.mute();
    const [a, b, c, d, e] = arrived;
    for (const message of [d, b, a]) message?.accept();
    // A decision stands: neither call may settle the message another way, or again.
    a?.giveBack();
    e?.giveBack();
    e?.accept();
    await Promise.resolve();
    c?.giveBack();
    await consumer.close();

    arrived.length = 0;
    const second = await transport.consume(from, events);
    await second.listen(6);
    await waitFor(() => arrived.length >= 3, { what: "what was not accepted" });
    expect(arrived.map(({ body }) => body).toSorted()).toEqual(["c", "e", "f"]);
    for (const message of arrived) message.accept();
    await second.close();
    await waitFor(async () => (await transport.countWaiting(queue)) === 0, {
      what: "an empty queue",
    });
    await transport.close();
  });
});

it.skipIf(noRabbitmq !== undefined)(
  "leaves to the broker what is settled on a channel that is closing (needs RabbitMQ)",
  async () => {
    server ??= await startRabbitmq();
    const connection = await connect(server.url);
    const channel = await connection.createChannel();
    const { queue } = await channel.assertQueue("settled-too-late", { durable: true });
    for (const body of ["a", "b"]) channel.sendToQueue(queue, Buffer.from(body));
    const arrived: ConsumeMessage[] = [];
    await channel.consume(queue, (message) => message !== null && arrived.push(message));
    await waitFor(() => arrived.length === 2, { what: "both messages" });
    const settlement = createSettlement(channel, () => true);
    const [first, second] = arrived.map((message) => settlement.arrived(message));
    const closed = channel.close();
    first?.accept();
    settlement.flush();
    second?.giveBack();
    await closed;
    const other = await connection.createChannel();
    expect((await other.deleteQueue(queue)).messageCount).toBe(2);
    await connection.close();
  },
);

function carried(body: string, index: number): CarriedMessage {
  const counts = { priority: 0, deliveries: 0, released: 0, lost: 0 };
  const keys = { message_id: index + 1, message_key: body, group_key: null, headers: null };
  return { ...counts, ...keys, body, enqueued_at: "2026-01-01T00:00:00Z" };
}
