/**
 * What every broker must do, run on each adapter. Where a broker says in its capabilities that it
 * cannot do something, that statement is not made for it.
 */
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type {
  Broker,
  BrokerCapabilities,
  Delivery,
  DeliveryHandler,
  OutMessage,
  QueueSpec,
} from "../../src/adapters/broker/broker.ts";
import { DeliveryAborted } from "../../src/adapters/broker/broker.ts";
import type { Transaction } from "../../src/adapters/postgres/queryable.ts";
import { startRival } from "../support/rival.ts";
import { waitFor } from "../support/wait.ts";

export interface BrokerUnderTest {
  readonly capabilities: BrokerCapabilities;
  /** Each call is a process of its own, as far as the broker can tell. */
  makeBroker(): Promise<Broker>;
  /** An ES module's text, run in the project's folder, that declares `broker`: for a real rival. */
  readonly rivalProgram: string;
  /** Runs work in a transaction that `publish` and `withdraw` accept. */
  transaction(work: (tx: Transaction) => Promise<void>): Promise<void>;
}

const long: QueueSpec = { leaseMs: 30_000, maxDeliveries: 5 };
const short: QueueSpec = { leaseMs: 900, maxDeliveries: 5 };

export function describeBroker(name: string, start: () => Promise<BrokerUnderTest>): void {
  describe(name, () => {
    let under: BrokerUnderTest;
    const brokers: Broker[] = [];

    beforeAll(async () => {
      under = await start();
    });
    afterEach(async () => {
      await Promise.all(brokers.splice(0).map((broker) => broker.close()));
    });
    afterAll(async () => {
      await Promise.all(brokers.splice(0).map((broker) => broker.close()));
    });

    async function open(): Promise<Broker> {
      const broker = await under.makeBroker();
      brokers.push(broker);
      return broker;
    }

    async function openWithQueue(spec: QueueSpec = long): Promise<[Broker, string]> {
      const broker = await open();
      const queue = `test-${randomUUID().slice(0, 8)}`;
      await broker.ensureQueue(queue, spec);
      return [broker, queue];
    }

    /** Consumes into a list; each delivery is completed unless told otherwise. */
    async function collect(
      broker: Broker,
      queue: string,
      handler: DeliveryHandler = async () => undefined,
      maxInFlight = 1,
    ) {
      const seen: Delivery[] = [];
      const subscription = await broker.consume(queue, { maxInFlight }, async (delivery) => {
        seen.push(delivery);
        await handler(delivery);
      });
      return { seen, subscription };
    }

    const empty = (broker: Broker, queue: string) =>
      waitFor(
        async () => {
          const { ready, delayed, in_flight } = await broker.depth(queue);
          return ready + delayed + in_flight === 0;
        },
        { what: "the queue is empty" },
      );

    it("delivers what was published, with its headers, and forgets it when completed", async () => {
      const [broker, queue] = await openWithQueue();
      await broker.publish(queue, [
        message("a", { headers: { text: "x", number: 1, flag: true } }),
      ]);
      const answers: string[] = [];
      const { seen } = await collect(broker, queue, async (delivery) => {
        answers.push(await delivery.complete(), await delivery.complete());
      });
      await empty(broker, queue);
      expect(seen.map(({ id, body, deliveryCount }) => ({ id, body, deliveryCount }))).toEqual([
        { id: "a", body: "body of a", deliveryCount: 1 },
      ]);
      expect(seen[0]!.headers).toMatchObject({ text: "x", number: 1, flag: true });
      expect(answers).toEqual(["ok", "lost"]);
    });

    it("refuses to publish to a queue that was not declared, and says what to do", async () => {
      const broker = await open();
      await expect(broker.publish("nowhere", [message("a")])).rejects.toThrow(/not declared/);
      await expect(
        broker.consume("nowhere", { maxInFlight: 1 }, async () => undefined),
      ).rejects.toThrow(/not declared/);
    });

    it("wakes a consumer that waits, without the help of a poll", async () => {
      const [broker, queue] = await openWithQueue();
      const { seen } = await collect(broker, queue);
      await broker.publish(queue, [message("first")]);
      await waitFor(() => seen.length === 1, { what: "the first message" });
      const started = performance.now();
      await broker.publish(queue, [message("second")]);
      await waitFor(() => seen.length === 2, { what: "the second message" });
      expect(performance.now() - started).toBeLessThan(1000);
    });

    it("delivers again when the handler throws, and counts", async () => {
      const [broker, queue] = await openWithQueue();
      await broker.publish(queue, [message("a")]);
      const { seen } = await collect(broker, queue, async ({ deliveryCount }) => {
        if (deliveryCount < 3) throw new Error("not yet");
      });
      await empty(broker, queue);
      expect(seen.map(({ deliveryCount }) => deliveryCount)).toEqual([1, 2, 3]);
    });

    it("delivers after the delay of a retry, and not before", async () => {
      const [broker, queue] = await openWithQueue();
      await broker.publish(queue, [message("a")]);
      const times: number[] = [];
      await collect(broker, queue, async (delivery) => {
        times.push(performance.now());
        if (times.length === 1) expect(await delivery.retry({ delayMs: 400 })).toBe("ok");
      });
      await waitFor(() => times.length === 2, { what: "the second delivery" });
      expect(times[1]! - times[0]!).toBeGreaterThanOrEqual(400);
      expect(times[1]! - times[0]!).toBeLessThan(2500);
    });

    it("delivers first what needs no delay, and the delayed message when it is due", async () => {
      const [broker, queue] = await openWithQueue();
      const published = performance.now();
      await broker.publish(queue, [message("later", { delayMs: 400 }), message("now")]);
      expect(await broker.depth(queue)).toMatchObject({ ready: 1, delayed: 1 });
      const { seen } = await collect(broker, queue);
      await waitFor(() => seen.length === 2, { what: "both messages" });
      expect(seen.map(({ id }) => id)).toEqual(["now", "later"]);
      expect(performance.now() - published).toBeGreaterThanOrEqual(400);
    });

    it("keeps dead letters with their reason, and requeues them with a fresh count", async () => {
      const [broker, queue] = await openWithQueue();
      await broker.publish(queue, [message("bad"), message("good")]);
      let isMended = false;
      const { seen } = await collect(broker, queue, async (delivery) => {
        if (delivery.id === "bad" && !isMended)
          await delivery.deadLetter("Unreadable", "at line 1");
      });
      await empty(broker, queue);
      const [dead, ...others] = await broker.deadLetters(queue, 10);
      expect(others).toEqual([]);
      expect(dead).toMatchObject({
        message_key: "bad",
        body: "body of bad",
        reason: "Unreadable",
        detail: "at line 1",
        delivery_count: 1,
      });
      isMended = true;
      expect(await broker.requeue(queue, [dead!.id, "987654321", "nonsense"])).toBe(1);
      await empty(broker, queue);
      expect(seen.filter(({ id }) => id === "bad").map((one) => one.deliveryCount)).toEqual([1, 1]);
      expect(await broker.deadLetters(queue, 10)).toEqual([]);
    });

    it("gives up after the queue's number of deliveries", async () => {
      const [broker, queue] = await openWithQueue({ leaseMs: 30_000, maxDeliveries: 3 });
      await broker.publish(queue, [message("a")]);
      const { seen } = await collect(broker, queue, async () => {
        throw new Error("never works");
      });
      const [dead] = await waitFor(
        async () => {
          const letters = await broker.deadLetters(queue, 10);
          return letters.length > 0 && letters;
        },
        { what: "the dead letter" },
      );
      expect(seen).toHaveLength(3);
      expect(dead).toMatchObject({
        reason: "MaxDeliveriesExceeded",
        detail: "never works",
        delivery_count: 3,
      });
    });

    it("takes by priority, and by age among equals", async () => {
      const [broker, queue] = await openWithQueue();
      if (broker.capabilities.priority !== "exact") return;
      const priorities = [0, 9, 3, 9, 10, 0];
      await broker.publish(
        queue,
        priorities.map((priority, index) => message(`${priority}-${index}`, { priority })),
      );
      const { seen } = await collect(broker, queue);
      await waitFor(() => seen.length === 6, { what: "all messages" });
      expect(seen.map(({ id }) => id)).toEqual(["10-4", "9-1", "9-3", "3-2", "0-0", "0-5"]);
    });

    it("drops a message whose id it saw within the window, also within one call", async () => {
      const [broker, queue] = await openWithQueue({ ...long, dedupeMs: 60_000 });
      if (!broker.capabilities.dedupe) return;
      await broker.publish(queue, [message("a"), message("a"), message("b")]);
      await broker.publish(queue, [message("b"), message("c")]);
      const { seen } = await collect(broker, queue);
      await empty(broker, queue);
      expect(seen.map(({ id }) => id)).toEqual(["a", "b", "c"]);
    });

    it("counts what is ready, delayed, in flight and dead", async () => {
      const [broker, queue] = await openWithQueue();
      await broker.publish(
        queue,
        ["dead", "held", "x", "y"].map((id) => message(id)),
      );
      await broker.publish(queue, [message("later", { delayMs: 60_000 })]);
      const gate = deferred();
      const { seen } = await collect(broker, queue, async (delivery) => {
        if (delivery.id === "dead") await delivery.deadLetter("Test");
        else await gate.promise;
      });
      await waitFor(() => seen.length === 2, { what: "two deliveries" });
      const depth = await broker.depth(queue);
      expect(depth).toMatchObject({ ready: 2, delayed: 1, in_flight: 1, dead: 1 });
      expect(depth.oldest_seconds).toBeGreaterThanOrEqual(0);
      gate.resolve();
    });

    it("shares one queue between two consumers without a duplicate", async () => {
      const [one, queue] = await openWithQueue();
      const two = await open();
      const ids = Array.from({ length: 400 }, (_, index) => `m${index}`);
      await one.publish(
        queue,
        ids.map((id) => message(id)),
      );
      // Each holds its first messages until the other has some too: otherwise the faster of the two
      // can empty the queue before the slower one has asked.
      const started = [deferred(), deferred()] as const;
      const both = Promise.all(started.map(async ({ promise }) => promise));
      const meet =
        (mine: { resolve: () => void }): DeliveryHandler =>
        async () => {
          mine.resolve();
          await both;
        };
      const [first, second] = await Promise.all([
        collect(one, queue, meet(started[0]), 5),
        collect(two, queue, meet(started[1]), 5),
      ]);
      await empty(one, queue);
      const all = [...first.seen, ...second.seen].map(({ id }) => id);
      expect(all.toSorted()).toEqual(ids.toSorted());
      expect(first.seen.length).toBeGreaterThan(0);
      expect(second.seen.length).toBeGreaterThan(0);
    });

    it("brings 3,000 messages with mixed outcomes to their end, each as it was settled", async () => {
      const [broker, queue] = await openWithQueue();
      const ids = Array.from({ length: 3000 }, (_, index) => index);
      await broker.publish(
        queue,
        ids.map((id) => message(String(id))),
      );
      const completed = new Set<string>();
      await collect(
        broker,
        queue,
        async (delivery) => {
          const kind = Number(delivery.id) % 10;
          if (kind === 0) await delivery.deadLetter("Tenth");
          else if (kind === 1 && delivery.deliveryCount === 1) throw new Error("once");
          else if (kind === 2 && delivery.deliveryCount === 1)
            await delivery.retry({ delayMs: 50 });
          else if (kind === 3 && delivery.deliveryCount === 1) await delivery.retry();
          else if ((await delivery.complete()) === "ok") completed.add(delivery.id);
        },
        50,
      );
      await empty(broker, queue);
      expect(completed.size).toBe(2700);
      expect(await broker.depth(queue)).toMatchObject({
        ready: 0,
        delayed: 0,
        in_flight: 0,
        dead: 300,
      });
    });

    it("publishes with the caller's transaction: all of it or nothing", async () => {
      const [broker, queue] = await openWithQueue();
      if (!broker.capabilities.transactionalPublish) return;
      const { seen } = await collect(broker, queue);
      const rolledBack = under.transaction(async (tx) => {
        await broker.publish(queue, [message("never")], { tx });
        throw new Error("changed my mind");
      });
      await expect(rolledBack).rejects.toThrow("changed my mind");
      await under.transaction(async (tx) => {
        await broker.publish(queue, [message("always")], { tx });
        expect(seen).toEqual([]);
      });
      await waitFor(() => seen.length > 0, { what: "the committed message" });
      await empty(broker, queue);
      expect(seen.map(({ id }) => id)).toEqual(["always"]);
    });

    it("withdraws a group: waiting messages go, running handlers are told, others stay", async () => {
      const [broker, queue] = await openWithQueue();
      if (!broker.capabilities.withdraw) return;
      await broker.publish(queue, [
        message("running", { group: "job-1" }),
        message("waiting", { group: "job-1" }),
        message("delayed", { group: "job-1", delayMs: 60_000 }),
        message("other", { group: "job-2" }),
      ]);
      let cause: unknown;
      const { seen } = await collect(broker, queue, async (delivery) => {
        if (delivery.id !== "running") return;
        await aborted(delivery.signal);
        cause = (delivery.signal.reason as DeliveryAborted).abortCause;
        // Told to stop, it may as well ask for another try: there is none.
        await delivery.retry();
      });
      await waitFor(() => seen.length === 1, { what: "the first delivery" });
      const started = performance.now();
      await under.transaction((tx) => broker.withdraw(["job-1"], { tx }));
      await empty(broker, queue);
      expect(performance.now() - started).toBeLessThan(2000);
      expect(cause).toBe("cancelled");
      expect(seen.map(({ id }) => id)).toEqual(["running", "other"]);
    });

    it("redelivers when a lease runs out, and tells the late holder that it is lost", async () => {
      const [broker, queue] = await openWithQueue(short);
      if (!under.capabilities.fenced) return;
      await broker.publish(queue, [message("a")]);
      const rival = await startRival(under, queue, "wait");
      await rival.said("took a 1");
      // Frozen, and not dead: its connections stay open, and it comes back later.
      rival.signal("SIGSTOP");
      const { seen } = await collect(broker, queue);
      await empty(broker, queue);
      expect(seen.map(({ id, deliveryCount }) => [id, deliveryCount])).toEqual([["a", 2]]);
      rival.signal("SIGCONT");
      rival.goOn();
      await rival.said("completed a lost");
      expect(await broker.depth(queue)).toMatchObject({ ready: 0, in_flight: 0, dead: 0 });
      await rival.end();
    });

    it("keeps the lease of a handler that blocks its process for longer", async () => {
      // Long enough for a busy machine to renew it in time, and less than half of what is blocked.
      const [broker, queue] = await openWithQueue({ leaseMs: 2000, maxDeliveries: 5 });
      await broker.publish(queue, [message("busy")]);
      const rival = await startRival(under, queue, "block");
      await rival.said("took busy 1");
      const { seen } = await collect(broker, queue);
      await rival.said("completed busy ok");
      await empty(broker, queue);
      expect(seen).toEqual([]);
      await rival.end();
    });

    it("aborts a handler with `lost` when its message was given to another", async () => {
      const [broker, queue] = await openWithQueue(short);
      if (!under.capabilities.fenced) return;
      await broker.publish(queue, [message("a")]);
      const rival = await startRival(under, queue, "listen");
      await rival.said("took a 1");
      rival.signal("SIGSTOP");
      const { seen } = await collect(broker, queue);
      await waitFor(() => seen.length === 1, { what: "the second delivery" });
      rival.signal("SIGCONT");
      await rival.said("aborted a lost");
      await rival.end();
    });

    it("waits on close for what runs, gives the rest back uncounted, and takes nothing new", async () => {
      const [broker, queue] = await openWithQueue();
      await broker.publish(queue, [message("polite"), message("stubborn"), message("next")]);
      const gate = deferred();
      const { seen, subscription } = await collect(
        broker,
        queue,
        async (delivery) => {
          if (delivery.id === "polite") await aborted(delivery.signal);
          else await gate.promise;
        },
        2,
      );
      await waitFor(() => seen.length === 2, { what: "two deliveries" });
      await subscription.close({ graceMs: 200 });
      expect(seen.map(({ signal }) => (signal.reason as DeliveryAborted).abortCause)).toEqual([
        "shutdown",
        "shutdown",
      ]);
      expect(seen[0]!.signal.reason).toBeInstanceOf(DeliveryAborted);
      expect(await broker.depth(queue)).toMatchObject({ ready: 2, in_flight: 0 });
      // Late, and no longer its own.
      expect(await seen[1]!.complete()).toBe("lost");
      gate.resolve();

      const again = await collect(await open(), queue);
      await empty(broker, queue);
      expect(again.seen.map(({ id, deliveryCount }) => [id, deliveryCount])).toEqual([
        ["stubborn", 1],
        ["next", 1],
      ]);
    });
  });
}

function message(id: string, rest: Omit<Partial<OutMessage>, "id"> = {}): OutMessage {
  return { id, body: `body of ${id}`, ...rest };
}

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((settle) => (resolve = settle));
  return { promise, resolve };
}

function aborted(signal: AbortSignal): Promise<void> {
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
