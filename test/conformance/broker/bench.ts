/** What the statements about brokers work with. */
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll } from "vitest";
import type {
  Broker,
  BrokerCapabilities,
  Delivery,
  DeliveryHandler,
  OutMessage,
  QueueDepth,
  QueueSpec,
  Subscription,
} from "../../../src/adapters/broker/broker.ts";
import type { Transaction } from "../../../src/adapters/postgres/queryable.ts";
import { waitFor } from "../../support/wait.ts";

export interface BrokerUnderTest {
  readonly capabilities: BrokerCapabilities;
  /** Each call is a process of its own, as far as the broker knows. */
  makeBroker(): Promise<Broker>;
  /** An ES module's text, run in the project's folder, that declares `broker`: for a real rival. */
  readonly rivalProgram: string;
  /** Runs work in a transaction that `publish` and `withdraw` accept. */
  transaction(work: (tx: Transaction) => Promise<void>): Promise<void>;
  /** Makes a queue where the broker's programs do not. */
  readonly makeQueue?: (queue: string) => Promise<void>;
  /** Cuts every connection to an outside broker. */
  readonly cutConnections?: () => Promise<void>;
  /** Takes a message of an outside broker as another program does, and gives it up. */
  readonly giveUpOne?: (queue: string) => Promise<void>;
}

export interface BrokerBench {
  /** Known when the first test runs. */
  readonly under: () => BrokerUnderTest;
  /** Closed after the test. */
  readonly open: () => Promise<Broker>;
  readonly openWithQueue: (spec?: QueueSpec) => Promise<[Broker, string]>;
  /** Consumes into a list; each delivery is completed unless the handler settles it. */
  readonly collect: (
    broker: Broker,
    queue: string,
    handler?: DeliveryHandler,
    maxInFlight?: number,
  ) => Promise<{ seen: Delivery[]; subscription: Subscription }>;
  /** Resolves when nothing waits and nothing runs. */
  readonly empty: (broker: Broker, queue: string) => Promise<unknown>;
  /**
   * The depth of a queue. Messages on their way to or from a consumer of an outside broker are counted
   * nowhere for a moment, so there it is asked until it is as expected.
   */
  readonly settledDepth: (
    broker: Broker,
    queue: string,
    expected: Partial<QueueDepth>,
  ) => Promise<QueueDepth>;
}

export const long: QueueSpec = { leaseMs: 30_000, maxDeliveries: 5 };
export const short: QueueSpec = { leaseMs: 900, maxDeliveries: 5 };

export function prepareBench(start: () => Promise<BrokerUnderTest>): BrokerBench {
  let started: BrokerUnderTest | undefined;
  const brokers: Broker[] = [];
  const closeAll = async () => {
    await Promise.all(brokers.splice(0).map((broker) => broker.close()));
  };
  beforeAll(async () => {
    started = await start();
  });
  afterEach(closeAll);
  afterAll(closeAll);

  function under(): BrokerUnderTest {
    if (started === undefined) throw new Error("the broker is made before the first test");
    return started;
  }

  async function open(): Promise<Broker> {
    const broker = await under().makeBroker();
    brokers.push(broker);
    return broker;
  }

  return {
    under,
    open,
    async openWithQueue(spec = long) {
      const broker = await open();
      const queue = `test-${randomUUID().slice(0, 8)}`;
      await under().makeQueue?.(queue);
      await broker.ensureQueue(queue, spec);
      return [broker, queue];
    },
    async collect(broker, queue, handler = async () => undefined, maxInFlight = 1) {
      const seen: Delivery[] = [];
      const subscription = await broker.consume(queue, { maxInFlight }, async (delivery) => {
        seen.push(delivery);
        await handler(delivery);
      });
      return { seen, subscription };
    },
    async settledDepth(broker, queue, expected) {
      if (broker.outside === undefined) return broker.depth(queue);
      return waitFor(
        async () => {
          const depth = await broker.depth(queue);
          const wanted = Object.entries(expected) as [keyof QueueDepth, number][];
          return wanted.every(([name, value]) => depth[name] === value) && depth;
        },
        { what: JSON.stringify(expected) },
      );
    },
    empty: (broker, queue) => {
      // A message on its way from an outside broker to its lease is counted nowhere for a moment.
      const enough = broker.outside === undefined ? 1 : 4;
      let times = 0;
      return waitFor(
        async () => {
          const { ready, delayed, in_flight } = await broker.depth(queue);
          times = ready + delayed + in_flight === 0 ? times + 1 : 0;
          return times === enough;
        },
        { what: "the queue is empty", timeoutMs: 50_000 },
      );
    },
  };
}

export function message(id: string, rest: Omit<Partial<OutMessage>, "id"> = {}): OutMessage {
  return { id, body: `body of ${id}`, ...rest };
}

export function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((settle) => (resolve = settle));
  return { promise, resolve };
}

export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else {
      signal.addEventListener(
        "abort",
        () => {
          resolve();
        },
        { once: true },
      );
    }
  });
}
