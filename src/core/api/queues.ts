import { z } from "zod";
import { queueWait } from "../queue-capacity.ts";
import { defineContract } from "./contract.ts";
import { count, integer, page, timestamp } from "./schemas.ts";

const queue = z.object({ queue: z.string().min(1).max(64) });

const deadLetter = z
  .object({
    id: z.string(),
    reason: z.string(),
    detail: z.string().nullable(),
    delivery_count: count,
    died_at: timestamp,
    body: z.string(),
  })
  .meta({ id: "DeadLetter" });

const getQueues = defineContract({
  id: "getQueues",
  method: "GET",
  path: "/api/v1/queues/status",
  access: "read",
  summary: "Every queue: messages that wait, are leased or dead, and the workers that serve it.",
  response: page(
    z
      .object({
        queue: z.string(),
        ready: count,
        delayed: count,
        in_flight: count,
        dead: count,
        oldest_seconds: z.number().nullable(),
        workers: count,
        slots: count.describe("tasks of this queue that run at once"),
        busy: count,
        waits_for: queueWait.nullable().describe("what the waiting messages wait for"),
      })
      .meta({ id: "QueueStatus" }),
  ),
  errors: ["UNAVAILABLE"],
});

const listDeadLetters = defineContract({
  id: "listDeadLetters",
  method: "GET",
  path: "/api/v1/queues/{queue}/dead-letters",
  access: "read",
  summary: "Dead letters, the newest first.",
  params: queue,
  query: z.strictObject({ limit: integer(1, 500).prefault(50) }),
  response: page(deadLetter),
  errors: ["BAD_REQUEST", "QUEUE_NOT_FOUND"],
});

const getDeadLetter = defineContract({
  id: "getDeadLetter",
  method: "GET",
  path: "/api/v1/queues/{queue}/dead-letters/{id}",
  access: "read",
  summary: "One dead letter.",
  params: queue.extend({ id: z.string().min(1).max(128) }),
  response: deadLetter,
  errors: ["QUEUE_NOT_FOUND", "NOT_FOUND"],
});

const requeueDeadLetters = defineContract({
  id: "requeueDeadLetters",
  method: "POST",
  path: "/api/v1/queues/{queue}/dead-letters/requeue",
  access: "operate",
  summary: "Put dead letters back on their queue with a fresh delivery count.",
  params: queue,
  body: z.strictObject({ ids: z.array(z.string().min(1).max(128)).min(1).max(500) }),
  response: z.object({ requeued: count }).meta({ id: "Requeued" }),
  errors: ["BAD_REQUEST", "QUEUE_NOT_FOUND"],
});

export const queueContracts = [
  getQueues,
  listDeadLetters,
  getDeadLetter,
  requeueDeadLetters,
] as const;
