import type { DeadLetter } from "../../adapters/broker/broker.ts";
import type { Handlers } from "../../adapters/http/handler.ts";
import { listWorkers } from "../../adapters/postgres/queries/fleet.ts";
import type { queueContracts } from "../../core/api/queues.ts";
import { Problem } from "../../core/errors.ts";
import type { RouteDeps } from "../route-deps.ts";

/** One dead letter is looked for among this many: a broker can list them, but not look one up. */
const mostSearched = 1000;

export function queueRoutes(
  deps: Pick<RouteDeps, "db" | "broker" | "queues">,
): Handlers<typeof queueContracts> {
  const { db, broker, queues } = deps;

  function demandQueue(queue: string): void {
    if (queues.includes(queue)) return;
    const known = queues.join(", ");
    throw new Problem("QUEUE_NOT_FOUND", `There is no queue "${queue}"; there are: ${known}.`);
  }

  return {
    getQueues: async () => {
      const workers = (await listWorkers(db)).filter((worker) => worker.alive);
      const items = await Promise.all(
        queues.map(async (queue) => {
          const serving = workers.filter((worker) => worker.queues.includes(queue));
          const sum = (part: "slots" | "busy") => serving.reduce((n, each) => n + each[part], 0);
          const depth = await broker.depth(queue);
          return {
            queue,
            ...depth,
            workers: serving.length,
            slots: sum("slots"),
            busy: sum("busy"),
          };
        }),
      );
      return { items, next_cursor: null };
    },

    listDeadLetters: async ({ params: { queue }, query: { limit } }) => {
      demandQueue(queue);
      const items = (await broker.deadLetters(queue, limit)).map(copy);
      return { items, next_cursor: null };
    },

    getDeadLetter: async ({ params: { queue, id } }) => {
      demandQueue(queue);
      const letters = await broker.deadLetters(queue, mostSearched);
      const letter = letters.find((each) => each.id === id);
      if (letter !== undefined) return copy(letter);
      throw new Problem("NOT_FOUND", `Queue "${queue}" has no dead letter "${id}".`);
    },

    requeueDeadLetters: async ({ params: { queue }, body: { ids } }) => {
      demandQueue(queue);
      return { requeued: await broker.requeue(queue, ids) };
    },
  };
}

function copy({ id, reason, detail, delivery_count, died_at, body }: DeadLetter) {
  return { id, reason, detail, delivery_count, died_at, body };
}
