import type { Broker } from "../../adapters/broker/broker.ts";
import type { Handlers } from "../../adapters/http/handler.ts";
import type { Database } from "../../adapters/postgres/database.ts";
import { readCheckpoints } from "../../adapters/postgres/queries/history.ts";
import { saveCheckpoint } from "../../adapters/postgres/repositories/checkpoints.ts";
import { recordReports } from "../../adapters/postgres/repositories/reports.ts";
import { reach } from "../../adapters/runtime/fail-points.ts";
import type { workerReportContracts } from "../../core/api/worker-reports.ts";
import { Problem } from "../../core/errors.ts";
import { recordOlderResult } from "./record-older-result.ts";

export interface WorkerReportRouteDeps {
  readonly db: Database;
  readonly broker: Pick<Broker, "recordProgress">;
}

/**
 * Reports of workers that have no connection to the database. A result that is recorded already is
 * accepted again, so that the worker stops sending it.
 */
export function workerReportRoutes({
  db,
  broker,
}: WorkerReportRouteDeps): Handlers<typeof workerReportContracts> {
  return {
    async reportResults({ body }) {
      if ("older" in body) return recordOlderResult(db, body.older);
      reach("callback.before_record");
      await recordReports(
        db,
        body.results.map((result) => ({
          task_id: result.task_id,
          job_id: result.job_id,
          node_id: result.node_id,
          worker_id: result.worker_id,
          status: result.status,
          output: result.status === "completed" ? JSON.stringify(result.output) : null,
          error: result.status === "failed" ? JSON.stringify(result.error) : null,
        })),
      );
      reach("callback.after_record");
      return { accepted: body.results.map((result) => result.task_id), lost: [] };
    },

    async reportProgress({ body }) {
      const { task_id, percent, message } = body;
      return { accepted: await broker.recordProgress(task_id, percent, message ?? null) };
    },

    async saveCheckpoint({ body }) {
      const { data, ...rest } = body;
      const seq = await saveCheckpoint(db, { ...rest, data: JSON.stringify(data) });
      if (seq === undefined) {
        const detail = `task "${body.task_id}" is not the node's current attempt`;
        throw new Problem("STALE_ATTEMPT", detail);
      }
      return { seq };
    },

    loadCheckpoint: async ({ query: { job_id, node_id } }) => {
      const newest = (await readCheckpoints(db, job_id, node_id)).at(-1);
      if (newest === undefined) return { checkpoint: null };
      const { seq, phase, data } = newest;
      return { checkpoint: { seq, phase, data } };
    },
  };
}
