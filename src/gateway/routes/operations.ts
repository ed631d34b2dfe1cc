import { decodeCursor, encodeCursor } from "../../adapters/http/cursor.ts";
import type { Handlers } from "../../adapters/http/handler.ts";
import {
  countFleet,
  countJobs,
  findJob,
  listEvents,
  listJobs,
  listNodes,
  recentEvents,
} from "../../adapters/postgres/queries/gateway-operations.ts";
import { listOffered } from "../../adapters/postgres/queries/gateway-workflows.ts";
import type { operationContracts } from "../../core/api/gateway/operations.ts";
import { Problem } from "../../core/errors.ts";
import { overallState, probeTargets } from "../call-target.ts";
import type { RouteDeps } from "./deps.ts";
import { place } from "./platform.ts";

const mostNodes = 1000;
const mostFound = 100;

export function operationRoutes(
  deps: Pick<RouteDeps, "db" | "checks" | "targets" | "version" | "shownConfig">,
): Handlers<typeof operationContracts> {
  const { db } = deps;

  async function demandJob(jobId: string) {
    const job = await findJob(db, jobId);
    if (job !== undefined) return job;
    throw new Problem("JOB_NOT_FOUND", `There is no job "${jobId}".`);
  }

  return {
    statusJob: async ({ params }) => demandJob(params.job_id),

    statusJobs: async ({ query: { limit, cursor, ...filter } }) => {
      const found = decodeCursor(cursor, place);
      const after = found && { created_at: found[0], job_id: found[1] };
      const { items, next } = await listJobs(db, filter, limit, after);
      return { items, next_cursor: next && encodeCursor([next.created_at, next.job_id]) };
    },

    statusNodes: async ({ params }) => {
      await demandJob(params.job_id);
      return { items: await listNodes(db, params.job_id, mostNodes), next_cursor: null };
    },

    statusEvents: async ({ params, query: { after, limit } }) => {
      await demandJob(params.job_id);
      return { items: await listEvents(db, params.job_id, after, limit), next_cursor: null };
    },

    statusStats: async () => {
      const counts = await countJobs(db);
      const total = Object.values(counts).reduce((sum, each) => sum + each, 0);
      return { total, ...counts };
    },

    statusLookup: async ({ query }) => {
      const { items } = await listJobs(db, query, mostFound);
      return { items, next_cursor: null };
    },

    adminHealth: async () => {
      await deps.checks.runOnce();
      const checks = deps.checks.results();
      const isWell = Object.values(checks).every((result) => result === "ok");
      const targets = await probeTargets(deps.targets);
      const fleet = isWell ? await countFleet(db) : { orchestrators: null, workers: null };
      const status = isWell ? overallState(targets) : "down";
      return { status, version: deps.version, checks, targets, ...fleet };
    },

    adminConfig: async () => deps.shownConfig,

    adminActiveJobs: async ({ query: { limit } }) => {
      const { items } = await listJobs(db, { active: true }, limit);
      return { items, next_cursor: null };
    },

    adminRecentEvents: async ({ query: { limit } }) => ({
      items: await recentEvents(db, limit),
      next_cursor: null,
    }),

    adminWorkflows: async () => {
      const offered = await listOffered(db, "operators");
      const items = offered.map(({ outputs: _, ...shown }) => shown);
      return { items, next_cursor: null };
    },
  };
}
