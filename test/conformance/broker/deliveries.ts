import { expect, it } from "vitest";
import { waitFor } from "../../support/wait.ts";
import type { BrokerBench } from "./bench.ts";
import { deferred, long, message } from "./bench.ts";

/** What becomes of a message. */
export function describeDeliveries(bench: BrokerBench): void {
  const { open, openWithQueue, collect, empty, settledDepth } = bench;

  it("delivers what was published, with its headers, and forgets it when completed", async () => {
    const [broker, queue] = await openWithQueue();
    await broker.publish(queue, [message("a", { headers: { text: "x", number: 1, flag: true } })]);
    const answers: string[] = [];
    const { seen } = await collect(broker, queue, async (delivery) => {
      answers.push(await delivery.complete(), await delivery.complete());
    });
    await empty(broker, queue);
    await waitFor(() => answers.length > 0, { what: "both answers" });
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

  it("leaves messages for other handlers in the queue, where it can select", async () => {
    const [broker, queue] = await openWithQueue();
    if (!broker.capabilities.selects) return;
    const named = (id: string, handler: string) => message(id, { headers: { handler } });
    await broker.publish(queue, [named("a", "x"), named("b", "y"), message("c")]);
    let accepted = ["y"];
    const seen: string[] = [];
    await broker.consume(queue, { maxInFlight: 1, accepts: () => accepted }, async ({ id }) => {
      seen.push(id);
    });
    await waitFor(() => seen.length === 2, { what: "the two that it accepts" });
    expect(seen).toEqual(["b", "c"]);
    expect(await broker.depth(queue)).toMatchObject({ ready: 1 });
    accepted = ["x"];
    await broker.publish(queue, [named("d", "x")]);
    await empty(broker, queue);
    expect(seen).toEqual(["b", "c", "a", "d"]);
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
    await broker.publish(queue, [message("later", { delayMs: 1000 }), message("now")]);
    const depth = await broker.depth(queue);
    expect(depth).toMatchObject({ delayed: 1 });
    // A message that is just being sent is counted in both brokers.
    if (broker.outside === undefined) expect(depth).toMatchObject({ ready: 1 });
    const { seen } = await collect(broker, queue);
    await waitFor(() => seen.length === 2, { what: "both messages" });
    expect(seen.map(({ id }) => id)).toEqual(["now", "later"]);
    expect(performance.now() - published).toBeGreaterThanOrEqual(1000);
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

  it("does not let higher bands wait behind lower ones, where priorities are bands", async () => {
    const [broker, queue] = await openWithQueue();
    if (broker.capabilities.priority !== "bands") return;
    const held = deferred();
    const { seen } = await collect(broker, queue, ({ id }) =>
      id === "first" ? held.promise : Promise.resolve(),
    );
    await broker.publish(queue, [message("first")]);
    await waitFor(() => seen.length === 1, { what: "a busy consumer" });
    const published = [0, 9].flatMap((priority) =>
      Array.from({ length: priority === 9 ? 10 : 200 }, (_, index) =>
        message(`${priority}-${index}`, { priority }),
      ),
    );
    await broker.publish(queue, published);
    await waitFor(
      async () => {
        const { unsent } = (await broker.outside?.()) ?? { unsent: 0 };
        return unsent === 0 && (await broker.depth(queue)).ready === published.length;
      },
      { what: "all messages wait in the broker" },
    );
    held.resolve();
    await waitFor(() => seen.length === 1 + published.length, { what: "all messages" });
    // A consumer has messages of every band at hand, so it takes some of a lower one in between.
    const lastHigh = seen.findLastIndex(({ id }) => id.startsWith("9-"));
    expect(lastHigh).toBeLessThan(60);
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
    const expected = { ready: 2, delayed: 1, in_flight: 1, dead: 1 };
    const depth = await settledDepth(broker, queue, expected);
    expect(depth).toMatchObject(expected);
    if (broker.outside === undefined) expect(depth.oldest_seconds).toBeGreaterThanOrEqual(0);
    gate.resolve();
  });

  it("brings many messages with mixed outcomes to their end, each as it was settled", async () => {
    const [broker, queue] = await openWithQueue();
    const count = broker.outside === undefined ? 3000 : 600;
    const ids = Array.from({ length: count }, (_, index) => index);
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
        else if (kind === 2 && delivery.deliveryCount === 1) await delivery.retry({ delayMs: 50 });
        else if (kind === 3 && delivery.deliveryCount === 1) await delivery.retry();
        else if ((await delivery.complete()) === "ok") completed.add(delivery.id);
      },
      50,
    );
    await empty(broker, queue);
    expect(completed.size).toBe(0.9 * count);
    expect(await broker.depth(queue)).toMatchObject({
      ready: 0,
      delayed: 0,
      in_flight: 0,
      dead: 0.1 * count,
    });
  });
}
