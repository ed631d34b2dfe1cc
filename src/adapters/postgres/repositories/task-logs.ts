import type { Queryable } from "../queryable.ts";

export interface TaskLogRow {
  readonly job_id: string;
  readonly node_id: string;
  readonly task_id: string;
  readonly level: "debug" | "info" | "warn" | "error";
  readonly message: string;
  /** JSON text, or null. */
  readonly data: string | null;
}

export async function insertTaskLogs(db: Queryable, lines: readonly TaskLogRow[]): Promise<void> {
  await db.query(
    `INSERT INTO dagapp.dag_task_logs (job_id, node_id, task_id, level, message, data)
     SELECT job_id, node_id, task_id, level, message, data::jsonb
     FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
       WITH ORDINALITY AS t(job_id, node_id, task_id, level, message, data, ordinal)
     ORDER BY ordinal`,
    [
      lines.map(({ job_id }) => job_id),
      lines.map(({ node_id }) => node_id),
      lines.map(({ task_id }) => task_id),
      lines.map(({ level }) => level),
      lines.map(({ message }) => message),
      lines.map(({ data }) => data),
    ],
    "dag_insert_task_logs",
  );
}
