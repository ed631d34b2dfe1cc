/** Removes rows that are older than their class is kept. Every function runs in the transaction of a batch. */
import type { JobClass, RetentionClass } from "../../../core/retention/classes.ts";
import type { ArchivedRow, TimedClass } from "../queries/old-rows.ts";
import { isOld, mayGo, oldRows, timed } from "../queries/old-rows.ts";
import type { Transaction } from "../queryable.ts";

export interface Pass {
  readonly after_created_at: string | null;
  readonly after_job_id: string | null;
  /** Hours since the last pass ended; null while a pass is under way, or before the first. */
  readonly hours_since: number | null;
}

/** Undefined: another orchestrator is at this class. */
export async function lockClass(tx: Transaction, name: RetentionClass): Promise<Pass | undefined> {
  const { rows } = await tx.query<Pass>(
    `SELECT after_created_at::text, after_job_id,
       extract(epoch FROM now() - pass_finished_at)::float8 / 3600 AS hours_since
     FROM dagapp.dag_retention WHERE class = $1 FOR UPDATE SKIP LOCKED`,
    [name],
  );
  return rows[0];
}

export async function startPass(tx: Transaction, name: RetentionClass): Promise<void> {
  await tx.query(
    `UPDATE dagapp.dag_retention SET pass_started_at = now(), pass_finished_at = NULL,
       after_created_at = NULL, after_job_id = NULL WHERE class = $1`,
    [name],
  );
}

export async function advancePass(
  tx: Transaction,
  name: RetentionClass,
  done: {
    /** Undefined: a class without places, or the end of the pass. */
    readonly place: { readonly created_at: string; readonly job_id: string } | undefined;
    readonly more: boolean;
    readonly removed: number;
    readonly archived: number;
  },
): Promise<void> {
  await tx.query(
    `UPDATE dagapp.dag_retention SET after_created_at = $2, after_job_id = $3,
       pass_finished_at = CASE WHEN NOT $4::boolean THEN now() END,
       removed_rows = removed_rows + $5, archived_rows = archived_rows + $6
     WHERE class = $1`,
    [
      name,
      done.place?.created_at ?? null,
      done.place?.job_id ?? null,
      done.more,
      done.removed,
      done.archived,
    ],
  );
}

export interface OldJob {
  readonly job_id: string;
  readonly created_at: string;
  /** About how many rows it has: of nodes and of events. */
  readonly weight: number;
  readonly may_go: boolean;
}

/**
 * The next old jobs after the place of a pass, by age: jobs are found by the index of their creation,
 * and no index of their end burdens the engine.
 */
export async function findOldJobs(
  tx: Transaction,
  name: JobClass,
  {
    days,
    archive,
    pass,
    limit,
  }: {
    readonly days: number;
    readonly archive: boolean;
    readonly pass: Pass;
    readonly limit: number;
  },
): Promise<readonly OldJob[]> {
  const { rows } = await tx.query<OldJob>(
    `WITH walked AS MATERIALIZED (
       SELECT job_id, created_at FROM dagapp.dag_jobs j
       WHERE ($2::timestamptz IS NULL OR (created_at, job_id) > ($2::timestamptz, $3))
         AND created_at < now() - make_interval(secs => $1 * 86400) AND ${isOld}
       ORDER BY created_at, job_id LIMIT $4)
     SELECT j.job_id, j.created_at::text, j.nodes_total + j.event_seq AS weight,
       (${mayGo(name, archive)}) AS may_go
     FROM walked JOIN dagapp.dag_jobs j USING (job_id)
     ORDER BY j.created_at, j.job_id`,
    [days, pass.after_created_at, pass.after_job_id, limit],
  );
  return rows;
}

/** Results have no index by job: the ids of tasks are made of job, node and attempt. */
const ofTasks = `task_id = ANY (ARRAY(
  SELECT n.job_id || '_' || n.node_id || '_' || number
  FROM dagapp.dag_node_states n, generate_series(0, n.attempt + 1) AS number
  WHERE n.job_id = ANY ($1)))`;
const ofJobs = "job_id = ANY ($1)";

interface Part {
  readonly table: string;
  readonly key: string;
  readonly where: string;
}

const logs: Part = { table: "dag_task_logs", key: "log_id", where: ofJobs };
const events: Part = { table: "dag_job_events", key: "seq", where: ofJobs };
const results: readonly Part[] = [
  { table: "dag_task_results", key: "task_id", where: ofTasks },
  { table: "dag_task_metrics", key: "task_id", where: ofJobs },
  { table: "dag_checkpoints", key: "node_id || ' ' || seq", where: ofJobs },
];

/** The tables of a class, in the order in which their rows go: results are found through nodes. */
const parts: Readonly<Record<JobClass, readonly Part[]>> = {
  logs: [logs],
  events: [events],
  results,
  jobs: [
    logs,
    events,
    ...results,
    { table: "dag_node_states", key: "node_id", where: ofJobs },
    { table: "dag_jobs", key: "job_id", where: ofJobs },
  ],
};

/** Reads the rows that go, in pages of at most `pageRows`, so that no job is too large for memory. */
export async function* readRowsOfJobs(
  tx: Transaction,
  name: JobClass,
  jobIds: readonly string[],
  pageRows: number,
): AsyncGenerator<readonly ArchivedRow[]> {
  for (const { table, key, where } of parts[name]) {
    const parent = table === "dag_node_states" ? "coalesce(parent_node_id, '')" : "''";
    for (let offset = 0; ; offset += pageRows) {
      const { rows } = await tx.query<ArchivedRow>(
        `SELECT job_id, '${table}' AS table_name, (${key})::text AS row_key, ${parent} AS parent,
           to_jsonb(t)::text AS row
         FROM dagapp.${table} t WHERE ${where} ORDER BY job_id, ${key} LIMIT $2 OFFSET $3`,
        [jobIds, pageRows, offset],
      );
      if (rows.length > 0) yield rows;
      if (rows.length < pageRows) break;
    }
  }
}

export async function deleteRowsOfJobs(
  tx: Transaction,
  name: JobClass,
  jobIds: readonly string[],
): Promise<number> {
  let removed = 0;
  for (const { table, where } of parts[name]) {
    const { rowCount } = await tx.query(`DELETE FROM dagapp.${table} WHERE ${where}`, [jobIds]);
    removed += rowCount ?? 0;
  }
  return removed;
}

/** Those of the jobs whose rows refer to large values in storage. */
export async function findJobsWithValues(
  tx: Transaction,
  jobIds: readonly string[],
): Promise<readonly string[]> {
  const { rows } = await tx.query<{ job_id: string }>(
    `SELECT j.job_id FROM dagapp.dag_jobs j WHERE j.job_id = ANY ($1) AND (
       strpos(j.result_data::text, '"results/' || j.job_id || '/') > 0
       OR EXISTS (SELECT FROM dagapp.dag_node_states n WHERE n.job_id = j.job_id
         AND (strpos(n.output::text, '"results/' || j.job_id || '/') > 0
           OR strpos(n.input_params::text, '"results/' || j.job_id || '/') > 0)))`,
    [jobIds],
  );
  return rows.map(({ job_id }) => job_id);
}

/** Lineage no longer leads to jobs that are gone without an archive. */
export async function forgetJobs(tx: Transaction, jobIds: readonly string[]): Promise<void> {
  await tx.query(
    `DELETE FROM dagapp.dag_dataset_refs
     WHERE (source_kind = 'job' AND source_id = ANY ($1))
        OR (target_kind = 'job' AND target_id = ANY ($1))`,
    [jobIds],
  );
}

/** Removes some rows of a class and returns them. */
export async function takeOldRows(
  tx: Transaction,
  name: TimedClass,
  days: number,
  limit: number,
): Promise<readonly ArchivedRow[]> {
  const { table, key } = timed[name];
  const { rows: found } = await tx.query<{ key: string }>(
    `SELECT ${key}::text AS key FROM ${oldRows(name).from} LIMIT $2 FOR UPDATE OF t SKIP LOCKED`,
    [days, limit],
  );
  if (found.length === 0) return [];
  const keys = found.map((each) => each.key);
  if (name === "callbacks") {
    await tx.query("DELETE FROM dagapp.callback_attempts WHERE event_id = ANY ($1)", [keys]);
  }
  const type = name === "dead_letters" ? "bigint" : "text";
  const { rows } = await tx.query<ArchivedRow>(
    `DELETE FROM dagapp.${table} t WHERE ${key} = ANY ($1::${type}[])
     RETURNING '' AS job_id, '${table}' AS table_name, ${key}::text AS row_key, '' AS parent,
       to_jsonb(t)::text AS row`,
    [keys],
  );
  return rows;
}

/** Records a file of rows that this transaction removes, and whose they were. */
export async function recordArchive(
  tx: Transaction,
  archive: {
    readonly class: RetentionClass;
    readonly path: string;
    readonly rows: number;
    readonly bytes: number;
    readonly jobIds: readonly string[];
  },
): Promise<void> {
  await tx.query(
    `WITH made AS (
       INSERT INTO dagapp.dag_archives (class, path, row_count, bytes) VALUES ($1, $2, $3, $4)
       RETURNING archive_id)
     INSERT INTO dagapp.dag_archived_jobs (job_id, archive_id)
     SELECT job_id, archive_id FROM made, unnest($5::text[]) AS job_id`,
    [archive.class, archive.path, archive.rows, archive.bytes, archive.jobIds],
  );
}
