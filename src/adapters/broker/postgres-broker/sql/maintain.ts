import type { Queryable } from "../../../postgres/queryable.ts";

/**
 * Each message leaves dead rows in these tables. Until they are vacuumed, looks at running tasks and for
 * expired leases step over them, and so does each fetch from the front of a queue. Autovacuum runs once a
 * minute; by then a worker of short tasks has left a million of them.
 */
const churningTables = ["dag_queue_ready", "dag_queue_leases", "dag_queue_seen"] as const;
/** VACUUM reads all indexes of a table, so a long queue must have lost a part of its rows too. */
const worthVacuuming = "n_dead_tup >= 1000 + n_live_tup / 10";

/** Purges the keys of duplicate detection, and vacuums the tables with many dead rows. */
export async function maintainQueues(db: Queryable): Promise<{ vacuumed: readonly string[] }> {
  await db.query("DELETE FROM dagapp.dag_queue_seen WHERE until < now()");
  const { rows } = await db.query<{ relname: string }>(
    `SELECT relname FROM pg_stat_user_tables
     WHERE schemaname = 'dagapp' AND relname = ANY ($1::text[]) AND ${worthVacuuming}
     ORDER BY relname`,
    [churningTables],
  );
  const vacuumed = churningTables.filter((table) => rows.some((row) => row.relname === table));
  for (const table of vacuumed) {
    // TRUNCATE would lock the whole table for a moment, to free pages that fill again.
    await db.query(`VACUUM (SKIP_LOCKED, TRUNCATE false) dagapp.${table}`);
  }
  return { vacuumed };
}
