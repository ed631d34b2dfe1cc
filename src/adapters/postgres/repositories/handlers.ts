import { createHash } from "node:crypto";
import type { ContractData } from "../../../core/handlers/contract-data.ts";
import { handlersChannel } from "../channels.ts";
import type { Queryable } from "../queryable.ts";

/**
 * Registers what a worker offers, in place of what it offered before. Sorted by name: two workers
 * that start at once lock the contracts in the same order.
 */
const writeOffersSql = `
WITH offered AS (
  SELECT * FROM unnest($2::text[], $3::text[], $4::text[]) AS t(handler, contract_hash, contract)
),
contracts AS (
  INSERT INTO dagapp.dag_handlers (handler, contract_hash, contract)
  SELECT handler, contract_hash, contract::jsonb FROM offered ORDER BY handler
  ON CONFLICT (handler, contract_hash) DO UPDATE SET last_offered_at = now()
),
withdrawn AS (
  DELETE FROM dagapp.dag_handler_offers WHERE worker_id = $1 AND NOT handler = ANY ($2::text[])
),
offers AS (
  INSERT INTO dagapp.dag_handler_offers (worker_id, handler, contract_hash)
  SELECT $1, handler, contract_hash FROM offered
  ON CONFLICT (worker_id, handler) DO UPDATE SET contract_hash = excluded.contract_hash
)
SELECT pg_notify('${handlersChannel}', '')`;

export async function writeOffers(
  db: Queryable,
  workerId: string,
  contracts: readonly ContractData[],
): Promise<void> {
  const sorted = contracts.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const texts = sorted.map((contract) => JSON.stringify(contract));
  await db.query(writeOffersSql, [
    workerId,
    sorted.map(({ name }) => name),
    texts.map((text) => createHash("sha256").update(text).digest("hex")),
    texts,
  ]);
}

/** Forgets the contracts of a handler that no worker offers; false: there are none. */
export async function forgetHandler(db: Queryable, handler: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `WITH gone AS (
       DELETE FROM dagapp.dag_handlers AS h WHERE handler = $1
         AND NOT EXISTS (SELECT FROM dagapp.dag_handler_offers AS o WHERE o.handler = h.handler)
       RETURNING 1)
     SELECT pg_notify('${handlersChannel}', '') FROM gone`,
    [handler],
  );
  return (rowCount ?? 0) > 0;
}
