import type { Facts, NodeFact, Report } from "../../core/dag/evaluate/facts.ts";
import type { Graph } from "../../core/dag/compile/graph.ts";
import type { JobStatus } from "../../core/model/job.ts";
import type { JsonObject } from "../../core/model/json.ts";
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
}

export function factsOf(
  state: JobState,
  env: JsonObject,
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
    ...(changed === undefined ? {} : { changed }),
  };
}

/** The variable `job` of templates. */
function jobContext(row: JobRow): JsonObject {
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
  private readonly states = new Map<string, JobState>();
  private readonly maxNodes: number;
  private nodeCount = 0;

  constructor(maxNodes = 200_000) {
    this.maxNodes = maxNodes;
  }

  take(jobId: string): JobState | undefined {
    const state = this.states.get(jobId);
    if (state === undefined) return undefined;
    this.states.delete(jobId);
    this.nodeCount -= state.nodes.size;
    return state;
  }

  /** Adds a state; drops the least recently kept ones when the cache holds too many nodes. */
  keep(state: JobState): void {
    this.take(state.row.job_id);
    this.states.set(state.row.job_id, state);
    this.nodeCount += state.nodes.size;
    for (const oldest of this.states.keys()) {
      if (this.nodeCount <= this.maxNodes) break;
      this.take(oldest);
    }
  }
}
