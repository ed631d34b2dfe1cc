import type { Handlers } from "../../adapters/http/handler.ts";
import type { Broker } from "../../adapters/broker/broker.ts";
import type { Database } from "../../adapters/postgres/database.ts";
import { saveCheckpoint } from "../../adapters/postgres/repositories/checkpoints.ts";
import { recordReports } from "../../adapters/postgres/repositories/reports.ts";
import { reach } from "../../adapters/runtime/fail-points.ts";
import type { callbackContracts } from "../../core/api/callbacks.ts";
import { Problem } from "../../core/errors.ts";

/** What workers say that do not reach the database. A result that is known already is taken as well:
 * the worker only wants to hear that it need not say it again. */
export function takeCallbacks(deps: {
  readonly db: Database;
  readonly broker: Pick<Broker, "recordProgress">;
}): Handlers<typeof callbackContracts> {
  const { db, broker } = deps;
  return {
    async reportResults({ body }) {
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
  };
}
