import { z } from "zod";

/** What the oldest waiting message of a queue waits for. */
export const queueWait = z.enum(["worker", "slot", "delay", "fetch"]);
export type QueueWait = z.infer<typeof queueWait>;

/** Divides the slots of a worker among its queues, at least one each: a long queue must not starve a short one. */
export function shareSlots(
  slots: number,
  queues: readonly string[],
): readonly (readonly [string, number])[] {
  const part = Math.floor(slots / queues.length);
  const rest = slots % queues.length;
  return queues.map((queue, index) => [queue, Math.max(1, part + (index < rest ? 1 : 0))]);
}

export interface QueueCapacity {
  readonly workers: number;
  /** Tasks of this queue that its workers run at once. */
  readonly slots: number;
  readonly busy: number;
  readonly waits_for: QueueWait | null;
}

/**
 * The capacity of a queue is its share of the slots of each worker, not all of them: the other slots
 * run tasks of other queues only. A lease beyond that share is a prefetched message.
 */
export function capacityOf(
  queue: string,
  depth: { readonly ready: number; readonly delayed: number; readonly in_flight: number },
  workers: readonly { readonly slots: number; readonly queues: readonly string[] }[],
): QueueCapacity {
  const serving = workers.filter(({ queues }) => queues.includes(queue));
  const slots = serving.reduce(
    (sum, worker) => sum + (new Map(shareSlots(worker.slots, worker.queues)).get(queue) ?? 0),
    0,
  );
  const busy = Math.min(depth.in_flight, slots);
  const { ready, delayed } = depth;
  const waits_for =
    ready > 0
      ? serving.length === 0
        ? "worker"
        : busy >= slots
          ? "slot"
          : "fetch"
      : delayed > 0
        ? "delay"
        : null;
  return { workers: serving.length, slots, busy, waits_for };
}
