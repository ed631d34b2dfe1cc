import type { Handlers } from "../../adapters/http/handler.ts";
import {
  countJobs,
  countOwned,
  listOrchestrators,
  listWorkers,
} from "../../adapters/postgres/queries/fleet.ts";
import type { fleetContracts } from "../../core/api/fleet.ts";
import type { RouteDeps } from "../route-deps.ts";

export function fleetRoutes(
  deps: Pick<RouteDeps, "db" | "status" | "version">,
): Handlers<typeof fleetContracts> {
  const { db } = deps;
  return {
    listWorkers: async () => ({ items: (await listWorkers(db)).map(written), next_cursor: null }),
    listOrchestrators: async () => ({
      items: (await listOrchestrators(db)).map(written),
      next_cursor: null,
    }),
    getOrchestratorStatus: async () => {
      const status = deps.status();
      const [jobs, { owned, unowned }] = await Promise.all([
        countJobs(db),
        countOwned(db, status.owner_id),
      ]);
      return { ...status, version: deps.version, owned_jobs: owned, unowned_jobs: unowned, jobs };
    },
  };
}

function written<Row extends { started_at: Date; heartbeat_at: Date }>(row: Row) {
  return {
    ...row,
    started_at: row.started_at.toISOString(),
    heartbeat_at: row.heartbeat_at.toISOString(),
  };
}
