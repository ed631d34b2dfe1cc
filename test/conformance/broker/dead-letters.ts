import { expect, it } from "vitest";
import { waitFor } from "../../support/wait.ts";
import type { BrokerBench } from "./bench.ts";
import { message } from "./bench.ts";

/** Messages that no consumer can complete. */
export function describeDeadLetters(bench: BrokerBench): void {
  const { openWithQueue, collect, empty } = bench;

  it("keeps dead letters with their reason, and requeues them with a fresh count", async () => {
    const [broker, queue] = await openWithQueue();
    await broker.publish(queue, [message("bad"), message("good")]);
    let isMended = false;
    const { seen } = await collect(broker, queue, async (delivery) => {
      if (delivery.id === "bad" && !isMended) await delivery.deadLetter("Unreadable", "at line 1");
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
}
