import type { Facts, NodeFact, Report } from "../../core/dag/evaluate/facts.ts";
import type { Graph } from "../../core/dag/graph.ts";
import type { JobMember } from "../../core/dag/lint/references.ts";
import type { JobStatus } from "../../core/model/job.ts";
import type { Json, JsonObject } from "../../core/model/json.ts";
import type { ChildOutputs } from "./child-outputs.ts";
import type { JobEnd } from "./end-waiters.ts";
import type { JobRow } from "../../adapters/postgres/repositories/jobs.ts";

/** The rows of one job in memory, as its owner evaluates them. */
export interface JobState {
  readonly row: JobRow;
  readonly graph: Graph;
  /** Static nodes. Children are added for one evaluation, when a report or a retry names them. */
  readonly nodes: Map<string, NodeFact>;
  status: JobStatus;
  unsettled: number;
  eventSeq: number;
  /** A report arrived since the state was loaded. */
  hasReports: boolean;
  /** The size of the outputs that were read from storage. */
  largeBytes: number;
  /** By fan-out; rows of children are read where it lacks one. */
  childOutputs?: Map<string, ChildOutputs>;
  /** Set when the job ends, if its result is small and nothing in it is secret. */
  end?: Pick<JobEnd, "result" | "error"> | undefined;
}

/** Settings of the orchestrator that decide about jobs. */
export interface FactSettings {
  /** The allow-listed environment that templates may read. */
  readonly env: JsonObject;
  readonly maxFanOut: number;
  /** How many children of a large fan-out are created at once; undefined: the default. */
  readonly fanOutBlock?: number | undefined;
}

export function factsOf(
  state: JobState,
  { env, maxFanOut, fanOutBlock }: FactSettings,
  reports: readonly Report[],
  changed: readonly string[] | undefined,
): Facts {
  const { row, nodes, unsettled, status } = state;
  return {
    job: {
      job_id: row.job_id,
      status,
      inputs: row.input_params,
      paused: row.paused,
      cancel_requested: row.cancel_reason ?? undefined,
      context: jobContext(row),
      env,
    },
    nodes,
    unsettled,
    reports,
    max_fan_out: maxFanOut,
    ...(fanOutBlock === undefined ? {} : { fan_out_block: fanOutBlock }),
    ...(changed === undefined ? {} : { changed }),
  };
}

/** The variable `job` of templates. */
function jobContext(row: JobRow): Record<JobMember, Json> {
  return {
    job_id: row.job_id,
    workflow_id: row.workflow_id,
    workflow_version: row.workflow_version,
    correlation_id: row.correlation_id,
    submitted_by: row.submitted_by,
    priority: row.priority,
  };
}

/**
 * States of the jobs that this orchestrator owns, so that a tick does not load again what it wrote a
 * moment ago. A tick takes an entry out and puts it back after its commit. An entry may be stale:
 * each writer of a job numbers an event, and a commit expects the entry's event number.
 */
export class StateCache {
  private readonly states = new Map<
    string,
    { readonly state: JobState; readonly weight: number }
  >();
  private readonly maxWeight: number;
  private weight = 0;
  /** Jobs whose last transaction of pushed reports failed. */
  private readonly doubted = new Set<string>();

  /** A node weighs 1, and so does a kibibyte of a large output. */
  constructor(maxWeight = 200_000) {
    this.maxWeight = maxWeight;
  }

  take(jobId: string): JobState | undefined {
    const found = this.states.get(jobId);
    if (found === undefined) return undefined;
    this.states.delete(jobId);
    this.weight -= found.weight;
    return found.state;
  }

  /**
   * Says that pushed reports of this job are not to be settled before a tick has settled what waits for
   * it in the database: one job that another session has locked would let every batch fail.
   */
  doubt(jobId: string): void {
    this.doubted.add(jobId);
  }

  isDoubted(jobId: string): boolean {
    return this.doubted.has(jobId);
  }

  /** Drops everything about a job that has ended. */
  forget(jobId: string): void {
    this.take(jobId);
    this.doubted.delete(jobId);
  }

  /** Adds a state; drops the least recently kept ones when the cache holds too much. */
  keep(state: JobState): void {
    this.forget(state.row.job_id);
    let bytes = state.largeBytes;
    for (const { length } of state.childOutputs?.values() ?? []) bytes += length;
    const weight = state.nodes.size + Math.ceil(bytes / 1024);
    this.states.set(state.row.job_id, { state, weight });
    this.weight += weight;
    for (const oldest of this.states.keys()) {
      if (this.weight <= this.maxWeight) break;
      this.take(oldest);
    }
  }
}
