/** Jobs and tasks that do not move. Recovery acts by itself; these queries tell an operator. */
import type { Queryable } from "../queryable.ts";

interface StalledJob {
  readonly job_id: string;
  readonly workflow_id: string;
  readonly status: string;
  readonly idle_seconds: number;
  readonly unsettled_nodes: number;
}

export async function findStalledJobs(
  db: Queryable,
  { idleSeconds, limit }: { readonly idleSeconds: number; readonly limit: number },
) {
  const { rows } = await db.query<StalledJob & { active: number; stalled: number }>(
    `WITH moved AS (
       SELECT job.job_id, job.workflow_id, job.status, job.nodes_unsettled,
         greatest(job.updated_at, (
           SELECT max(greatest(node.dispatched_at, node.started_at, node.completed_at))
           FROM dagapp.dag_node_states node WHERE node.job_id = job.job_id)) AS at,
         EXISTS (SELECT FROM dagapp.dag_running_tasks task WHERE task.job_id = job.job_id) AS runs
       FROM dagapp.dag_jobs job
       WHERE job.status IN ('pending', 'running') AND job.paused_at IS NULL
     ), idle AS (
       SELECT *, extract(epoch FROM now() - at)::float8 AS idle_seconds FROM moved
       WHERE NOT runs AND at < now() - make_interval(secs => $1)
     )
     SELECT counts.*, worst.* FROM (
       SELECT (SELECT count(*) FROM moved)::int AS active, (SELECT count(*) FROM idle)::int AS stalled
     ) AS counts LEFT JOIN (
       SELECT job_id, workflow_id, status::text, idle_seconds, nodes_unsettled AS unsettled_nodes
       FROM idle ORDER BY idle_seconds DESC LIMIT $2
     ) AS worst ON true`,
    [idleSeconds, limit],
  );
  return {
    active_jobs: rows[0]?.active ?? 0,
    stalled_count: rows[0]?.stalled ?? 0,
    stalled_jobs: rows
      .filter(({ job_id }) => (job_id as string | null) !== null)
      .map(({ active: _, stalled: __, ...job }) => job),
  };
}

interface OverdueTask {
  readonly task_id: string;
  readonly job_id: string;
  readonly node_id: string;
  readonly handler: string;
  readonly queue: string;
  readonly state: "running" | "waiting";
  readonly seconds: number;
  readonly timeout_seconds: number | null;
  readonly worker_id: string | null;
}

export async function findOverdueTasks(
  db: Queryable,
  { waitingSeconds, limit }: { readonly waitingSeconds: number; readonly limit: number },
) {
  const { rows } = await db.query<OverdueTask & { running: number; waiting: number }>(
    `WITH tasks AS MATERIALIZED (
       SELECT node.task_id, node.job_id, node.node_id, coalesce(node.handler, '') AS handler,
         coalesce(node.queue, '') AS queue, node.timeout_seconds, task.worker_id,
         CASE WHEN task.task_id IS NULL THEN 'waiting' ELSE 'running' END AS state,
         extract(epoch FROM now() - coalesce(task.started_at, node.dispatched_at))::float8 AS seconds,
         CASE WHEN task.task_id IS NULL THEN $1 ELSE node.timeout_seconds END AS allowed
       FROM dagapp.dag_jobs job
       JOIN dagapp.dag_node_states node ON node.job_id = job.job_id
       LEFT JOIN dagapp.dag_running_tasks task ON task.task_id = node.task_id
       WHERE job.status IN ('pending', 'running') AND node.status = 'dispatched'
     ), overdue AS (
       SELECT task_id, job_id, node_id, handler, queue, state, seconds, timeout_seconds, worker_id
       FROM tasks WHERE seconds > allowed ORDER BY seconds DESC LIMIT $2
     )
     SELECT counts.*, overdue.* FROM (
       SELECT count(*) FILTER (WHERE state = 'running')::int AS running,
         count(*) FILTER (WHERE state = 'waiting')::int AS waiting FROM tasks
     ) AS counts LEFT JOIN overdue ON true`,
    [waitingSeconds, limit],
  );
  return {
    running_tasks: rows[0]?.running ?? 0,
    waiting_tasks: rows[0]?.waiting ?? 0,
    overdue_tasks: rows
      .filter(({ task_id }) => (task_id as string | null) !== null)
      .map(({ running: _, waiting: __, ...task }) => task),
  };
}
