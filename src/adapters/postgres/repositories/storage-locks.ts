import type { Database } from "../database.ts";

/**
 * Runs the work while no other process changes the same file in storage. Storage cannot compare and
 * set, so processes that read a file and write it again take turns.
 */
export async function changeFile<T>(
  db: Database,
  path: string,
  work: () => Promise<T>,
): Promise<T> {
  return db.transaction(async (tx) => {
    await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended('file ' || $1, 0))`, [path]);
    return work();
  });
}
