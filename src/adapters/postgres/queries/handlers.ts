import type { ContractData } from "../../../core/handlers/contract-data.ts";
import type { Queryable } from "../queryable.ts";
import { workerIsAlive } from "./fleet.ts";

/** A contract, and the workers that offer it now. */
export interface OfferedContract {
  readonly contract_hash: string;
  readonly contract: ContractData;
  readonly first_offered_at: Date;
  readonly last_offered_at: Date;
  readonly offered_by: readonly { readonly worker_id: string; readonly queues: string[] }[];
}

/**
 * Reads every contract that was ever registered. Of one handler those with live workers come first,
 * then the newest.
 */
export async function listContracts(db: Queryable): Promise<OfferedContract[]> {
  const { rows } = await db.query<OfferedContract>(
    `SELECT h.contract_hash, h.contract, h.first_offered_at, h.last_offered_at,
       coalesce(live.workers, '[]'::jsonb) AS offered_by
     FROM dagapp.dag_handlers AS h
     LEFT JOIN LATERAL (
       SELECT jsonb_agg(jsonb_build_object('worker_id', worker_id, 'queues', queues)
                        ORDER BY worker_id) AS workers
       FROM dagapp.dag_handler_offers AS o JOIN dagapp.dag_workers USING (worker_id)
       WHERE o.handler = h.handler AND o.contract_hash = h.contract_hash AND ${workerIsAlive}
     ) AS live ON true
     ORDER BY h.handler, live.workers IS NULL, h.first_offered_at DESC, h.contract_hash`,
  );
  return rows;
}

/** Reads the queues that live workers serve. */
export async function listServedQueues(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ queue: string }>(
    `SELECT DISTINCT unnest(queues) AS queue FROM dagapp.dag_workers WHERE ${workerIsAlive}
     ORDER BY 1`,
  );
  return rows.map(({ queue }) => queue);
}

/** Reads which handlers live workers offer on each queue. */
export async function readOffers(db: Queryable): Promise<Offers> {
  const { rows } = await db.query<{ queue: string; handlers: string[]; any: boolean }>(
    `SELECT queue, coalesce(array_agg(DISTINCT handler) FILTER (WHERE handler IS NOT NULL), '{}')
         AS handlers,
       bool_or(handler IS NULL) AS any
     FROM dagapp.dag_workers AS w
     CROSS JOIN LATERAL unnest(w.queues) AS queue
     LEFT JOIN dagapp.dag_handler_offers USING (worker_id)
     WHERE ${workerIsAlive} GROUP BY queue`,
  );
  const byQueue = new Map(rows.map((row) => [row.queue, row]));
  return (queue, handler) => {
    const found = byQueue.get(queue);
    // A worker of an older release registers nothing, and offers what ships.
    return found !== undefined && (found.any || found.handlers.includes(handler));
  };
}

/** Whether a live worker offers a handler on a queue. */
export type Offers = (queue: string, handler: string) => boolean;

/** The queues and handlers that a worker registered; undefined: it has no row. */
export async function findRegisteredWorker(
  db: Queryable,
  workerId: string,
): Promise<{ readonly queues: string[]; readonly handlers: string[] } | undefined> {
  const { rows } = await db.query<{ queues: string[]; handlers: string[] }>(
    `SELECT queues, ARRAY(SELECT handler FROM dagapp.dag_handler_offers
                          WHERE worker_id = $1 ORDER BY handler) AS handlers
     FROM dagapp.dag_workers WHERE worker_id = $1`,
    [workerId],
    "dag_find_registered_worker",
  );
  return rows[0];
}
