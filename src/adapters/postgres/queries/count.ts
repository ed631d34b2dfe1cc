import { hasErrorCode } from "../../runtime/error-code.ts";
import type { Database } from "../database.ts";

/**
 * Counting stops at this number and after this time, because exact large counts are rarely needed.
 */
const mostCounted = 100_000;
const countingMs = 250;
const queryCanceled = "57014";

/** The limit if every row must be tested against a condition. */
const mostTried = 20_000;

/**
 * Counts the rows of `FROM …`; with `matching`, those that meet its condition, which reads the
 * relation that it names. Undefined: there are too many, or counting takes too long.
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
