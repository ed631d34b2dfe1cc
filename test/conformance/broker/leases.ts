import { expect, it } from "vitest";
import type { DeliveryHandler } from "../../../src/adapters/broker/broker.ts";
import { DeliveryAborted } from "../../../src/adapters/broker/broker.ts";
import { startRival } from "../../support/rival.ts";
import { waitFor } from "../../support/wait.ts";
import type { BrokerBench } from "./bench.ts";
import { aborted, deferred, message, short } from "./bench.ts";

/** Who holds a message. */
export function describeLeases(bench: BrokerBench): void {
  const { open, openWithQueue, collect, empty, settledDepth } = bench;

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

  it("redelivers when a lease runs out, and answers the late holder with `lost`", async () => {
    const [broker, queue] = await openWithQueue(short);
    if (!bench.under().capabilities.fenced) return;
    await broker.publish(queue, [message("a")]);
    const rival = await startRival(bench.under(), queue, "wait");
    await rival.said("took a 1");
    // Frozen, and not dead: its connections stay open, and it comes back later.
    rival.signal("SIGSTOP");
    const { seen } = await collect(broker, queue);
    await waitFor(() => seen.length > 0, { what: "the second delivery" });
    await empty(broker, queue);
    const [second, ...more] = seen.map(({ id, deliveryCount }) => [id, deliveryCount]);
    // From an outside broker the first copy comes too, if its holder froze before it settled it.
    if (broker.outside === undefined) expect([second, ...more]).toEqual([["a", 2]]);
    else expect(second?.[0]).toBe("a");
    rival.signal("SIGCONT");
    rival.goOn();
    await rival.said("completed a lost");
    if (broker.outside === undefined) {
      expect(await broker.depth(queue)).toMatchObject({ ready: 0, in_flight: 0, dead: 0 });
    }
    await rival.end();
  });

  it("keeps the lease of a handler that blocks its process for longer", async () => {
    // Long enough for a busy machine to renew it in time, and less than half of what is blocked.
    const [broker, queue] = await openWithQueue({ leaseMs: 2000, maxDeliveries: 5 });
    // With an outside broker the same leases are renewed by the same thread.
    if (broker.outside !== undefined) return;
    await broker.publish(queue, [message("busy")]);
    const rival = await startRival(bench.under(), queue, "block");
    await rival.said("took busy 1");
    const { seen } = await collect(broker, queue);
    await rival.said("completed busy ok");
    await empty(broker, queue);
    expect(seen).toEqual([]);
    await rival.end();
  });

  it("aborts a handler with `lost` when its message was given to another", async () => {
    const [broker, queue] = await openWithQueue(short);
    if (!bench.under().capabilities.fenced || broker.outside !== undefined) return;
    await broker.publish(queue, [message("a")]);
    const rival = await startRival(bench.under(), queue, "listen");
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
    const back = { ready: 2, in_flight: 0 };
    expect(await settledDepth(broker, queue, back)).toMatchObject(back);
    // Late, and no longer its own.
    expect(await seen[1]!.complete()).toBe("lost");
    gate.resolve();

    const again = await collect(await open(), queue);
    await empty(broker, queue);
    const counts = again.seen.map(({ id, deliveryCount }) => [id, deliveryCount]);
    const expected = [
      ["stubborn", 1],
      ["next", 1],
    ];
    // A message that is given back to an outside broker may have lost its place.
    if (broker.outside === undefined) expect(counts).toEqual(expected);
    else expect(counts.toSorted()).toEqual(expected.toSorted());
  });
}
