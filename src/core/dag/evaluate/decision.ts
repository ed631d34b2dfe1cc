import type { Json, JsonObject } from "../../model/json.ts";
import type { TaskError } from "../../model/task.ts";
import type { TaskTemplate } from "../../model/workflow.ts";

/**
 * What `evaluate` may decide: a closed vocabulary. Each is one change of state that the engine
 * writes and then stops thinking about. Their order within one evaluation is the order of events.
 */
export type Decision =
  /** pending → running, with the first decision of a job. */
  | { readonly type: "start_job" }
  /** Every incoming edge is dead. */
  | { readonly type: "skip"; readonly node_id: string; readonly reason: string }
  /** Settled by the orchestrator itself, or a task whose result arrived. */
  | {
      readonly type: "complete";
      readonly node_id: string;
      readonly output: JsonObject;
    }
  /** Dependencies are met; it waits (job paused). */
  | { readonly type: "ready"; readonly node_id: string }
  /** Send one attempt to a queue. */
  | {
      readonly type: "dispatch";
      readonly node_id: string;
      readonly attempt: number;
      readonly task: TaskOrder;
    }
  /** Create exactly `params.length` children; the first `dispatched` go to the queue at once. */
  | {
      readonly type: "expand";
      readonly node_id: string;
      readonly task: Omit<TaskOrder, "params">;
      readonly params: readonly JsonObject[];
      readonly dispatched: number;
    }
  /** Free slots: send the next waiting children, `from` inclusive to `to` exclusive. */
  | {
      readonly type: "release";
      readonly node_id: string;
      readonly from: number;
      readonly to: number;
    }
  /** → ready: read the outputs in index order, aggregate, give the answer back as a fact at once. */
  | { readonly type: "collect"; readonly node_id: string }
  /** failed → ready: the next attempt may start at `retry_at`. */
  | {
      readonly type: "retry";
      readonly node_id: string;
      readonly error: TaskError;
      readonly retry_at: number;
      readonly retry_count: number;
      readonly throttle_count: number;
    }
  | {
      readonly type: "fail";
      readonly node_id: string;
      readonly error: TaskError;
    }
  /** A result that is not the node's current attempt changes nothing. */
  | {
      readonly type: "ignore";
      readonly node_id: string;
      readonly task_id: string;
      readonly reason: string;
    }
  | { readonly type: "complete_job"; readonly result: Json }
  /** Everything unsettled becomes cancelled, running tasks are told to stop. */
  | {
      readonly type: "fail_job";
      /** The node that failed first in graph order; absent when the job's own outputs failed. */
      readonly node_id: string | undefined;
      readonly error: TaskError;
    }
  | { readonly type: "cancel_job"; readonly reason: string };

/** What a worker is asked to run. */
export interface TaskOrder {
  readonly handler: string;
  readonly queue: string;
  readonly params: JsonObject;
  readonly timeout_seconds: number;
}

/** The order that every attempt of this node, or every child of this fan-out, has in common. */
export function taskOrder(template: TaskTemplate): Omit<TaskOrder, "params"> {
  const { handler, queue, timeout_seconds } = template;
  return { handler, queue, timeout_seconds };
}
