import { expect, it } from "vitest";
import type { DeliveryAborted } from "../../../src/adapters/broker/broker.ts";
import { waitFor } from "../../support/wait.ts";
import type { BrokerBench } from "./bench.ts";
import { aborted, message } from "./bench.ts";

/** What happens with a transaction. */
export function describeTransactions(bench: BrokerBench): void {
  const { openWithQueue, collect, empty } = bench;

  it("publishes with the caller's transaction: all of it or nothing", async () => {
    const [broker, queue] = await openWithQueue();
    if (!broker.capabilities.transactionalPublish) return;
    const { seen } = await collect(broker, queue);
    const rolledBack = bench.under().transaction(async (tx) => {
      await broker.publish(queue, [message("never")], { tx });
      throw new Error("changed my mind");
    });
    await expect(rolledBack).rejects.toThrow("changed my mind");
    await bench.under().transaction(async (tx) => {
      await broker.publish(queue, [message("always")], { tx });
      expect(seen).toEqual([]);
    });
    await waitFor(() => seen.length > 0, { what: "the committed message" });
    await empty(broker, queue);
    expect(seen.map(({ id }) => id)).toEqual(["always"]);
  });

  it("withdraws a group: waiting messages go, running handlers are aborted, others stay", async () => {
    const [broker, queue] = await openWithQueue();
    if (!broker.capabilities.withdraw) return;
    await broker.publish(queue, [
      message("running", { group: "job-1" }),
      // One that waits in an outside broker is dropped when it arrives, if its job has ended.
      ...(broker.outside === undefined ? [message("waiting", { group: "job-1" })] : []),
      message("delayed", { group: "job-1", delayMs: 60_000 }),
      message("other", { group: "job-2" }),
    ]);
    let cause: unknown;
    let abortedAt = Infinity;
    const { seen } = await collect(broker, queue, async (delivery) => {
      if (delivery.id !== "running") return;
      await aborted(delivery.signal);
      abortedAt = performance.now();
      cause = (delivery.signal.reason as DeliveryAborted).abortCause;
      // An aborted handler may ask for a retry; there is none.
      await delivery.retry();
    });
    await waitFor(() => seen.length === 1, { what: "the first delivery" });
    const started = performance.now();
    await bench.under().transaction((tx) => broker.withdraw(["job-1"], { tx }));
    await empty(broker, queue);
    expect(abortedAt - started).toBeLessThan(2000);
    expect(cause).toBe("cancelled");
    expect(seen.map(({ id }) => id)).toEqual(["running", "other"]);
  });
}
