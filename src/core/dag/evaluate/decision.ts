import type { Json, JsonObject } from "../../model/json.ts";
import type { TaskError } from "../../model/task.ts";
import type { TaskTemplate } from "../../model/workflow.ts";

/**
 * What `evaluate` may decide: a closed vocabulary. Each decision is one change of state that the
 * engine writes without deciding anything itself. Their order within one evaluation is the order of
 * the events.
 */
export type Decision =
  /** pending → running, with the first decision of a job. */
  | { readonly type: "start_job" }
  /** Every incoming edge is dead. */
  | { readonly type: "skip"; readonly node_id: string; readonly reason: string }
  /** The orchestrator settled the node itself, or the result of its task arrived. */
  | {
      readonly type: "complete";
      readonly node_id: string;
      readonly output: JsonObject;
    }
  /** The dependencies are met, but the job is paused. */
  | { readonly type: "ready"; readonly node_id: string }
  /** Send one attempt to a queue. */
  | {
      readonly type: "dispatch";
      readonly node_id: string;
      readonly attempt: number;
      readonly task: TaskOrder;
    }
  /**
   * Create the children from the index `from` on, one for each of `params`, of `total`; the first
   * `dispatched` of them go to the queue at once.
   */
  | {
      readonly type: "expand";
      readonly node_id: string;
      readonly task: Omit<TaskOrder, "params">;
      readonly from: number;
      readonly total: number;
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
  /**
   * → ready. The engine reads the outputs in index order, aggregates them and evaluates again at
   * once, with the answer in `facts.collected`.
   */
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
  /** The report of an attempt that is not the current one changes nothing. */
  | {
      readonly type: "ignore";
      readonly node_id: string;
      readonly task_id: string;
      readonly reason: string;
    }
  | { readonly type: "complete_job"; readonly result: Json }
  /**
   * Every unsettled node becomes cancelled, and the workers are asked to stop the running tasks.
   */
  | {
      readonly type: "fail_job";
      /** The node that failed first in graph order; absent when the job's own outputs failed. */
      readonly node_id: string | undefined;
      readonly error: TaskError;
    }
  | { readonly type: "cancel_job"; readonly reason: string };

/** The work order that a task message carries to a worker. */
export interface TaskOrder {
  readonly handler: string;
  readonly queue: string;
  readonly params: JsonObject;
  readonly timeout_seconds: number;
}

/** The part of the order that all attempts of a node, or all children of a fan-out, share. */
export function taskOrder(template: TaskTemplate): Omit<TaskOrder, "params"> {
  const { handler, queue, timeout_seconds } = template;
  return { handler, queue, timeout_seconds };
}
