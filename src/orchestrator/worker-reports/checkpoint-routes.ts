import type { Handlers } from "../../adapters/http/handler.ts";
import { readCheckpoints } from "../../adapters/postgres/queries/history.ts";
import type { checkpointContracts } from "../../core/api/callbacks.ts";
import type { RouteDeps } from "../route-deps.ts";

export function checkpointRoutes({
  db,
}: Pick<RouteDeps, "db">): Handlers<typeof checkpointContracts> {
  return {
    loadCheckpoint: async ({ query: { job_id, node_id } }) => {
      const newest = (await readCheckpoints(db, job_id, node_id)).at(-1);
      if (newest === undefined) return { checkpoint: null };
      const { seq, phase, data } = newest;
      return { checkpoint: { seq, phase, data } };
    },
  };
}
