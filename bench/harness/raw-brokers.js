/**
 * The clients of the brokers by themselves, with the guarantees that our transports ask for: stored
 * before they count as sent, settled one by one. Each answers the milliseconds of one message after the
 * other, sent and received, and the messages a second of a backlog that is drained.
 */
import { Buffer } from "node:buffer";
import { ServiceBusClient } from "@azure/service-bus";
import { connect } from "amqplib";

const body = Buffer.from(JSON.stringify({ task_id: "raw", params: { text: "x".repeat(60) } }));
const window = 100;

export async function measureRabbitmq(url, { rounds, backlog }) {
  // Without it a message waits for the acknowledgement of the packet before, up to 40 ms.
  const connection = await connect(url, { noDelay: true });
  const channel = await connection.createConfirmChannel();
  const queue = "bench.raw";
  await channel.assertQueue(queue, { durable: true, arguments: { "x-queue-type": "quorum" } });
  await channel.prefetch(window);
  const publish = () => channel.publish("", queue, body, { persistent: true, mandatory: true });
  let arrived = () => undefined;
  const consume = () =>
    channel.consume(queue, (message) => {
      // The end of the queue itself.
      if (message === null) return;
      channel.ack(message);
      arrived();
    });

  const { consumerTag } = await consume();
  const latencies = await timeEach(rounds, async () => {
    const received = new Promise((resolve) => (arrived = resolve));
    publish();
    await Promise.all([channel.waitForConfirms(), received]);
  });
  await channel.cancel(consumerTag);
  for (let sent = 0; sent < backlog; sent += 500) {
    for (let n = 0; n < 500; n++) publish();
    await channel.waitForConfirms();
  }
  const perSecond = await timeDrain(backlog, async (count) => {
    arrived = count;
    await consume();
  });
  await channel.deleteQueue(queue);
  await connection.close();
  return { p50: median(latencies), perSecond };
}

export async function measureServiceBus(connectionString, { rounds, backlog }) {
  const client = new ServiceBusClient(connectionString);
  const queue = "bench-raw";
  const sender = client.createSender(queue);
  const message = { body, contentType: "application/json" };
  let arrived = () => undefined;
  const receive = () => {
    const receiver = client.createReceiver(queue);
    const handlers = {
      processMessage: async (received) => {
        await receiver.completeMessage(received);
        arrived();
      },
      processError: async () => undefined,
    };
    receiver.subscribe(handlers, { autoCompleteMessages: false, maxConcurrentCalls: window });
    return receiver;
  };

  const receiver = receive();
  const latencies = await timeEach(rounds, async () => {
    const received = new Promise((resolve) => (arrived = resolve));
    await Promise.all([sender.sendMessages(message), received]);
  });
  await receiver.close();
  for (let sent = 0; sent < backlog; sent += 500) {
    await sender.sendMessages(Array.from({ length: 500 }, () => message));
  }
  const perSecond = await timeDrain(backlog, async (count) => {
    arrived = count;
    receive();
  });
  await client.close();
  return { p50: median(latencies), perSecond };
}

async function timeEach(rounds, once) {
  const latencies = [];
  for (let n = 0; n < rounds; n++) {
    const began = performance.now();
    await once();
    latencies.push(performance.now() - began);
  }
  return latencies;
}

async function timeDrain(backlog, start) {
  const began = performance.now();
  await new Promise((resolve, reject) => {
    let left = backlog;
    start(() => {
      left -= 1;
      if (left === 0) resolve();
    }).catch(reject);
  });
  return (backlog / (performance.now() - began)) * 1000;
}

export function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}
