/** Reads what would be removed, what was archived, and how large tables are. */
import type { RetentionClass, RetentionSettings } from "../../../core/retention/classes.ts";
import { isJobClass } from "../../../core/retention/classes.ts";
import type { Queryable } from "../queryable.ts";
import { isoOrNull } from "./conditions.ts";
import type { ArchivedRow } from "./old-rows.ts";
import { isOld, mayGo, oldRows } from "./old-rows.ts";

/** Counting goes no further: the answer then says that there are more. */
const countedAtMost = 1_000_000;

export interface PlannedClass {
  readonly class: RetentionClass;
  readonly days: number;
  readonly jobs: number | null;
  readonly rows: number;
  readonly more: boolean;
  readonly oldest: string | null;
  readonly newest: string | null;
}

interface Counted {
  readonly jobs: number | null;
  readonly rows: number;
  readonly oldest: Date | null;
  readonly newest: Date | null;
}

/** Counts what a run would remove now of one class. */
export async function planClass(
  db: Queryable,
  name: RetentionClass,
  settings: RetentionSettings,
): Promise<PlannedClass> {
  const days = settings.days[name];
  if (days === 0) {
    return { class: name, days, jobs: null, rows: 0, more: false, oldest: null, newest: null };
  }
  const { rows } = await db.query<Counted>(countingSql(name, settings.archive), [days]);
  const {
    jobs,
    rows: found,
    oldest,
    newest,
  } = rows[0] ?? {
    jobs: 0,
    rows: 0,
    oldest: null,
    newest: null,
  };
  return {
    class: name,
    days,
    jobs,
    rows: Math.min(found, countedAtMost),
    more: found > countedAtMost,
    oldest: isoOrNull(oldest),
    newest: isoOrNull(newest),
  };
}

function countingSql(name: RetentionClass, archive: boolean): string {
  if (!isJobClass(name)) {
    const { from, time } = oldRows(name);
    return `SELECT NULL::integer AS jobs, count(*) AS rows, min(at) AS oldest, max(at) AS newest
      FROM (SELECT ${time} AS at FROM ${from} LIMIT ${countedAtMost + 1}) found`;
  }
  const old = `SELECT j.job_id, j.completed_at FROM dagapp.dag_jobs j
    WHERE ${isOld} AND ${mayGo(name, archive)}`;
  const tables = { logs: "dag_task_logs", events: "dag_job_events", jobs: "dag_node_states" };
  const rows =
    name === "results"
      ? `JOIN dagapp.dag_node_states n USING (job_id) JOIN dagapp.dag_task_results r
           ON r.task_id = ANY (ARRAY(SELECT n.job_id || '_' || n.node_id || '_' || number
             FROM generate_series(0, n.attempt + 1) AS number))`
      : `JOIN dagapp.${tables[name]} r USING (job_id)`;
  // A job is a row as well as its nodes.
  const count = name === "jobs" ? "count(*) + count(DISTINCT job_id)" : "count(*)";
  return `SELECT count(DISTINCT job_id) AS jobs, ${count} AS rows, min(completed_at) AS oldest,
      max(completed_at) AS newest
    FROM (SELECT old.job_id, old.completed_at FROM (${old}) old ${rows}
      LIMIT ${countedAtMost + 1}) found`;
}

export interface ArchiveTotals {
  readonly class: RetentionClass;
  readonly removed_rows: number;
  readonly archived_rows: number;
  readonly files: number;
  readonly bytes: number;
  readonly pass_finished_at: Date | null;
}

/** What was removed and archived so far, by class. */
export async function readRetentionTotals(db: Queryable): Promise<readonly ArchiveTotals[]> {
  const { rows } = await db.query<ArchiveTotals>(
    `SELECT r.class, r.removed_rows::float8 AS removed_rows,
       r.archived_rows::float8 AS archived_rows, r.pass_finished_at,
       count(a.archive_id) AS files, coalesce(sum(a.bytes), 0)::float8 AS bytes
     FROM dagapp.dag_retention r LEFT JOIN dagapp.dag_archives a USING (class)
     GROUP BY r.class ORDER BY r.class`,
  );
  return rows;
}

export interface ArchiveFile {
  readonly class: RetentionClass;
  readonly path: string;
  readonly bytes: number;
  readonly created_at: Date;
}

/** The files that hold rows of a job, the oldest first. */
export async function findArchives(db: Queryable, jobId: string): Promise<readonly ArchiveFile[]> {
  const { rows } = await db.query<ArchiveFile>(
    `SELECT a.class, a.path, a.bytes::float8 AS bytes, a.created_at
     FROM dagapp.dag_archived_jobs j JOIN dagapp.dag_archives a USING (archive_id)
     WHERE j.job_id = $1 ORDER BY a.archive_id`,
    [jobId],
  );
  return rows;
}

/**
 * Reads as the database does, but some tables hold only the given rows: every query of a job's
 * history then works on rows that come from an archive. Reading only.
 */
export function withArchivedRows(
  db: Queryable,
  rows: ReadonlyMap<string, readonly Pick<ArchivedRow, "row">[]>,
): Queryable {
  return {
    query: async (text, values = []) => {
      const given = [...values];
      const archived = (await inlineViews(db, text)).replaceAll(
        /dagapp\.(dag_[a-z_]+)/g,
        (name, table: string) => {
          const found = rows.get(table);
          if (found === undefined) return name;
          given.push(`[${found.map(({ row }) => row).join(",")}]`);
          return `jsonb_populate_recordset(NULL::dagapp.${table}, $${given.length}::jsonb)`;
        },
      );
      return db.query(archived, given);
    },
  };
}

/** Writes views over the tables of a job's history out, so that they read the given rows too. */
async function inlineViews(db: Queryable, text: string): Promise<string> {
  let written = text;
  for (const name of ["dag_unpacked_events", "dag_attempts"]) {
    if (!text.includes(`dagapp.${name}`)) continue;
    const { rows } = await db.query<{ view: string }>(
      `SELECT pg_get_viewdef('dagapp.${name}'::regclass) AS view`,
    );
    const view = rows[0]?.view.replace(/;\s*$/, "") ?? "";
    written = written.replaceAll(
      new RegExp(`dagapp\\.${name}\\b(\\s+AS\\s+\\w+)?`, "g"),
      (_, alias: string | undefined) => `(${view})${alias ?? ` AS ${name}`}`,
    );
  }
  return written;
}

export interface TableSize {
  readonly table: string;
  /** With its indexes and large values. */
  readonly bytes: number;
  readonly rows: number;
  readonly dead_rows: number;
  readonly vacuumed_at: Date | null;
}

/** Sizes are exact, counts of rows are the server's estimates. */
export async function readTableSizes(db: Queryable): Promise<readonly TableSize[]> {
  const { rows } = await db.query<TableSize>(
    `SELECT relname AS table, pg_total_relation_size(relid)::float8 AS bytes,
       n_live_tup::float8 AS rows, n_dead_tup::float8 AS dead_rows,
       greatest(last_vacuum, last_autovacuum) AS vacuumed_at
     FROM pg_stat_user_tables WHERE schemaname = 'dagapp' ORDER BY relname`,
  );
  return rows;
}
