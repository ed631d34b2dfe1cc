import type { Queryable } from "../../../postgres/queryable.ts";

/**
 * Each message leaves dead rows in these tables, and each fetch has to step over those of the ready
 * table until they are vacuumed. Autovacuum is made for tables that keep their rows: its threshold
 * grows with the table, and it runs once a minute.
 */
const churningTables = ["dag_queue_ready", "dag_queue_leases", "dag_queue_seen"] as const;
const worthVacuuming = 1000;

/** Purges the keys of duplicate detection, and vacuums the tables with many dead rows. */
export async function maintainQueues(db: Queryable): Promise<{ vacuumed: readonly string[] }> {
  await db.query("DELETE FROM dagapp.dag_queue_seen WHERE until < now()");
  const { rows } = await db.query<{ relname: string }>(
    `SELECT relname FROM pg_stat_user_tables
     WHERE schemaname = 'dagapp' AND relname = ANY ($1::text[]) AND n_dead_tup >= $2
     ORDER BY relname`,
    [churningTables, worthVacuuming],
  );
  const vacuumed = churningTables.filter((table) => rows.some((row) => row.relname === table));
  for (const table of vacuumed) {
    // TRUNCATE would lock the whole table for a moment, to free pages that fill again.
    await db.query(`VACUUM (SKIP_LOCKED, TRUNCATE false) dagapp.${table}`);
  }
  return { vacuumed };
}
