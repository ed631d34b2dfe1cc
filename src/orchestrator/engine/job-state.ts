import type { Facts, NodeFact, Report } from "../../core/dag/evaluate/facts.ts";
import type { Graph } from "../../core/dag/compile/graph.ts";
import type { JobStatus } from "../../core/model/job.ts";
import type { JsonObject } from "../../core/model/json.ts";
import type { JobHead, JobRow } from "../../adapters/postgres/repositories/jobs.ts";

/** One job in the hands of its owner: what the database holds of it, ready to be evaluated. */
export interface JobState {
  readonly row: JobRow;
  readonly graph: Graph;
  /** Static nodes; children come and go with the reports that speak of them. */
  readonly nodes: Map<string, NodeFact>;
  status: JobStatus;
  unsettled: number;
  eventSeq: number;
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

/** What templates may know of their job. */
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
 * States of the jobs that this orchestrator owns, so that a tick does not load what it wrote itself
 * a moment ago. An entry is only good while its event number is the row's: whoever else writes to a
 * job (a cancel request, another owner) numbers an event, and the entry is stale.
 */
export class StateCache {
  private readonly states = new Map<string, JobState>();
  private readonly maxNodes: number;
  private held = 0;

  constructor(maxNodes = 200_000) {
    this.maxNodes = maxNodes;
  }

  get(head: JobHead): JobState | undefined {
    const state = this.states.get(head.job_id);
    if (state === undefined) return undefined;
    this.forget(head.job_id);
    return state.eventSeq === head.event_seq ? state : undefined;
  }

  /** As it was left, without knowing whether it still is. */
  peek(jobId: string): JobState | undefined {
    return this.states.get(jobId);
  }

  /** Newest last; the oldest give way when too many nodes are held. */
  keep(state: JobState): void {
    this.forget(state.row.job_id);
    this.states.set(state.row.job_id, state);
    this.held += state.nodes.size;
    for (const oldest of this.states.keys()) {
      if (this.held <= this.maxNodes) break;
      this.forget(oldest);
    }
  }

  forget(jobId: string): void {
    const state = this.states.get(jobId);
    if (state === undefined) return;
    this.states.delete(jobId);
    this.held -= state.nodes.size;
  }
}
