import type { Broker } from "../../adapters/broker/broker.ts";
import type { Database } from "../../adapters/postgres/database.ts";
import type { GraphCache } from "../../adapters/postgres/queries/graph-cache.ts";
import type { Transaction } from "../../adapters/postgres/queryable.ts";
import type { Clock } from "../../adapters/runtime/clock.ts";
import type { Graph } from "../../core/dag/graph.ts";
import type { Json } from "../../core/model/json.ts";
import type { DatabaseClock } from "./database-clock.ts";
import type { EndWaiters } from "./end-waiters.ts";
import type { FactSettings, StateCache } from "./job-state.ts";
import type { OutputStore } from "./output-store.ts";
import type { Quarantine } from "./quarantine.ts";
import type { JobTraces } from "./trace-jobs.ts";

/** The parts that the engine uses. `wiring.ts` creates them for the program, test/support for tests. */
export interface EngineDeps extends FactSettings {
  readonly db: Database;
  readonly broker: Broker;
  readonly clock: Clock;
  readonly databaseClock: DatabaseClock;
  readonly ownerId: string;
  /** Jobs run the workflow version that they were submitted with. */
  readonly graphs: GraphCache;
  readonly cache: StateCache;
  readonly outputs: OutputStore;
  readonly quarantine: Quarantine;
  readonly endWaiters: EndWaiters;
  readonly jobHooks: JobHooks;
  /** Undefined: jobs are not traced. */
  readonly traces?: JobTraces | undefined;
}

/**
 * Functions that write the rows of requests and callbacks in the engine's transactions. Only jobs with
 * a correlation id or a callback are passed.
 */
export interface JobHooks {
  /** A worker has reported a task of these jobs for the first time since they were loaded. */
  onJobsStarted(tx: Transaction, jobIds: readonly string[]): void;
  onJobsEnded(tx: Transaction, ended: readonly EndedJob[]): Promise<void>;
}

/** How a job ended; passed to the hooks before the commit. */
export interface EndedJob {
  readonly job_id: string;
  readonly workflow_id: string;
  /** The id of the request that the job works for, or any id that the submitter gave. */
  readonly correlation_id: string | null;
  readonly callback_url: string | null;
  readonly trace_parent: string | null;
  readonly status: "completed" | "failed" | "cancelled";
  readonly result: Json;
  readonly error: { readonly code: string | null; readonly message: string } | null;
  readonly at: number;
}

export async function graphOfJob(
  { graphs }: Pick<EngineDeps, "graphs">,
  workflowHash: string,
): Promise<Graph> {
  const graph = await graphs.graphOf(workflowHash);
  if (graph === undefined) throw new Error(`workflow version ${workflowHash} is not stored`);
  return graph;
}
