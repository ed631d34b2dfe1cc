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

/**
 * What confines the processes of GDAL. bubblewrap: the program of that name. namespaces: `unshare` of
 * util-linux and a script. wasm: the WebAssembly engine, which sees the files that it is given. none:
 * the worker's user alone, or files are refused.
 */
const sandboxKind = z.enum(["bubblewrap", "namespaces", "wasm", "none"]);
export type SandboxKind = z.infer<typeof sandboxKind>;

/** The GDAL version of a worker, and the compressions that it can read. */
const workerGdal = z.object({
  engine: z.enum(["native", "wasm"]),
  version: z.string(),
  /** Not of a worker of an older release. */
  sandbox: sandboxKind.optional(),
  /** Why a better sandbox is not used; null if the best one is. */
  sandbox_reason: z.string().nullable().optional(),
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
        queue_slots: z.record(z.string(), count).describe("the share of each queue"),
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
      quarantined_jobs: count.describe("could not be settled and are left out for a while"),
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
