import { hasErrorCode } from "../../runtime/error-code.ts";
import type { Database } from "../database.ts";

/** Nobody waits for an exact million, nor for long. */
const mostCounted = 100_000;
const countingMs = 250;
const queryCanceled = "57014";

/** Of those that a condition has to be tried on, one by one. */
const mostTried = 20_000;

/**
 * How many rows `FROM …` gives; with `matching`, how many of them meet it, which reads the relation
 * that it names. Undefined: there are too many, or it takes too long.
 */
export async function countRows(
  db: Database,
  from: string,
  values: readonly unknown[],
  matching?: { readonly relation: string; readonly condition: string },
): Promise<number | undefined> {
  const most = matching === undefined ? mostCounted : mostTried;
  const text =
    matching === undefined
      ? `SELECT count(*) AS seen, count(*) AS found FROM (SELECT ${from} LIMIT ${most + 1}) AS rows`
      : `SELECT count(*) AS seen, count(*) FILTER (WHERE ${matching.condition}) AS found
         FROM (SELECT * ${from} LIMIT ${most + 1}) AS ${matching.relation}`;
  try {
    const { rows } = await db.transaction(async (tx) => {
      await tx.query(`SELECT set_config('statement_timeout', $1, true)`, [`${countingMs}ms`]);
      return tx.query<{ seen: number; found: number }>(text, values);
    });
    const { seen, found } = rows[0] ?? { seen: 0, found: 0 };
    return seen > most ? undefined : found;
  } catch (error) {
    if (hasErrorCode(error, queryCanceled)) return undefined;
    throw error;
  }
}
