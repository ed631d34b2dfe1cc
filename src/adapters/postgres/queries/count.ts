import type { Database } from "../database.ts";

/** Nobody waits for an exact million, nor for long. */
const mostCounted = 100_000;
const countingMs = 250;
const queryCanceled = "57014";

/** How many rows `FROM …` gives. Undefined: there are too many, or it takes too long. */
export async function countRows(
  db: Database,
  from: string,
  values: readonly unknown[],
): Promise<number | undefined> {
  const text = `SELECT count(*) FROM (SELECT ${from} LIMIT ${mostCounted + 1}) AS found`;
  try {
    const { rows } = await db.transaction(async (tx) => {
      await tx.query(`SELECT set_config('statement_timeout', $1, true)`, [`${countingMs}ms`]);
      return tx.query<{ count: number }>(text, values);
    });
    const count = rows[0]?.count ?? 0;
    return count > mostCounted ? undefined : count;
  } catch (error) {
    if ((error as { code?: unknown }).code === queryCanceled) return undefined;
    throw error;
  }
}
