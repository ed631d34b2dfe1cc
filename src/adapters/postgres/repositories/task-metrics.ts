import type { JsonObject } from "../../../core/model/json.ts";
import type { Queryable } from "../queryable.ts";

export interface TaskMetrics {
  readonly task_id: string;
  readonly job_id: string;
  readonly metrics: JsonObject | null;
  readonly execution_duration_ms: number | null;
}

/** Keeps the first numbers of each task. */
export async function writeTaskMetrics(db: Queryable, rows: readonly TaskMetrics[]): Promise<void> {
  if (rows.length === 0) return;
  await db.query(
    `INSERT INTO dagapp.dag_task_metrics (task_id, job_id, metrics, execution_duration_ms)
     SELECT task_id, job_id, metrics::jsonb, duration
     FROM unnest($1::text[], $2::text[], $3::text[], $4::float8[])
       AS t(task_id, job_id, metrics, duration)
     ON CONFLICT (task_id) DO NOTHING`,
    [
      rows.map(({ task_id }) => task_id),
      rows.map(({ job_id }) => job_id),
      rows.map(({ metrics }) => (metrics === null ? null : JSON.stringify(metrics))),
      rows.map(({ execution_duration_ms }) => execution_duration_ms),
    ],
  );
}
