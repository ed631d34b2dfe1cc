import { z } from "zod";
import { defineContract } from "./contract.ts";
import { count, page, timestamp } from "./schemas.ts";

const member = {
  host: z.string(),
  pid: z.number().int(),
  version: z.string(),
  started_at: timestamp,
  heartbeat_at: timestamp,
  /** Decided by the database's clock, because the clocks of the processes differ. */
  alive: z.boolean(),
};

/** The GDAL version of a worker, and the compressions that it can read. */
const workerGdal = z.object({
  engine: z.enum(["native", "wasm"]),
  version: z.string(),
  codecs: z.array(z.string()).readonly(),
});
export type WorkerGdal = z.infer<typeof workerGdal>;

const listWorkers = defineContract({
  id: "listWorkers",
  method: "GET",
  path: "/api/v1/workers",
  access: "read",
  summary: "Every worker process, with its queues and slots.",
  response: page(
    z
      .object({
        worker_id: z.string(),
        ...member,
        queues: z.array(z.string()),
        slots: count,
        busy: count,
        gdal: workerGdal.nullable(),
      })
      .meta({ id: "Worker" }),
  ),
  errors: ["UNAUTHENTICATED"],
});

const listOrchestrators = defineContract({
  id: "listOrchestrators",
  method: "GET",
  path: "/api/v1/orchestrators",
  access: "read",
  summary: "Every orchestrator process, with the number of jobs it owns.",
  response: page(
    z.object({ owner_id: z.string(), ...member, jobs: count }).meta({ id: "Orchestrator" }),
  ),
  errors: ["UNAUTHENTICATED"],
});

const getOrchestratorStatus = defineContract({
  id: "getOrchestratorStatus",
  method: "GET",
  path: "/api/v1/orchestrator/status",
  access: "read",
  summary: "The orchestrator that answers: what it owns and its counters.",
  response: z
    .object({
      owner_id: z.string(),
      version: z.string(),
      started_at: timestamp,
      ticks: count,
      last_tick_at: timestamp.nullable(),
      last_error: z.string().nullable(),
      owned_jobs: count,
      unowned_jobs: count,
      jobs: z.object({
        pending: count,
        running: count,
        completed: count,
        failed: count,
        cancelled: count,
      }),
    })
    .meta({ id: "OrchestratorStatus" }),
  errors: ["UNAUTHENTICATED"],
});

export const fleetContracts = [listWorkers, listOrchestrators, getOrchestratorStatus] as const;
