/**
 * How a submitter of many jobs sees that they are finished: a look every few milliseconds whether
 * one is still unfinished. On a role of its own, so that watching is not counted among the engine's
 * statements.
 */
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";

const lookEveryMs = 10;

export async function openWatch(url) {
  const client = new pg.Client({ connectionString: url, application_name: "bench watch" });
  await client.connect();
  return {
    async jobCompleted(jobId) {
      for (;;) {
        const { rows } = await client.query({
          name: "job",
          text: "SELECT status FROM dagapp.dag_jobs WHERE job_id = $1",
          values: [jobId],
        });
        if (isCompleted(rows[0])) return;
        await pause(lookEveryMs);
      }
    },
    /** `count` says that all are there: an empty table is finished as well. */
    async allCompleted(count) {
      for (;;) {
        const { rows } = await client.query({
          name: "unfinished",
          text: `SELECT EXISTS (
            SELECT 1 FROM dagapp.dag_jobs WHERE status IN ('pending', 'running')) AS unfinished`,
        });
        if (!rows[0].unfinished) break;
        await pause(lookEveryMs);
      }
      const { rows } = await client.query(
        "SELECT status, count(*)::integer AS jobs FROM dagapp.dag_jobs GROUP BY status",
      );
      if (rows.length !== 1 || rows[0].status !== "completed" || rows[0].jobs < count) {
        throw new Error(`${count} jobs should be completed, but there are ${JSON.stringify(rows)}`);
      }
    },
    /** The collected outputs of the newest fan-in: proof that nothing was left out. */
    async collected(jobId) {
      const { rows } = await client.query(
        `SELECT count(*)::integer AS children FROM dagapp.dag_node_states
          WHERE job_id = $1 AND parent_node_id IS NOT NULL AND status = 'completed'`,
        [jobId],
      );
      return rows[0].children;
    },
    close: () => client.end(),
  };
}

function isCompleted(row) {
  if (row?.status === "failed" || row?.status === "cancelled") {
    throw new Error(`the job is ${row.status}`);
  }
  return row?.status === "completed";
}
