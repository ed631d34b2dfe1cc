import type { Json, JsonObject } from "../../model/json.ts";
import type { JobStatus } from "../../model/job.ts";
import type { NodeStatus } from "../../model/node.ts";
import type { ErrorCategory, TaskError } from "../../model/task.ts";

/** Everything that `evaluate` knows of a job: the recorded state, and the reports that are new. */
export interface Facts {
  readonly job: JobFact;
  /** Every static node; of fan-out children only those that `reports` or `changed` name. */
  readonly nodes: ReadonlyMap<string, NodeFact>;
  /** Static nodes that are not settled. */
  readonly unsettled: number;
  /** Results that no evaluation has seen yet, in any order. */
  readonly reports: readonly Report[];
  /** The largest number of children of a fan-out; absent: no limit. */
  readonly max_fan_out?: number;
  /** How many children of a large fan-out are created at once; absent: the default. */
  readonly fan_out_block?: number;
  /** Aggregations that a `collect` asked for. */
  readonly collected?: ReadonlyMap<string, Collected>;
  /**
   * Nodes that changed since the last evaluation, or whose retry is due. Absent: every node is
   * considered, as after a take-over. The decisions are the same, only the cost differs.
   */
  readonly changed?: readonly string[];
}

export interface JobFact {
  readonly job_id: string;
  readonly status: JobStatus;
  readonly inputs: JsonObject;
  readonly paused: boolean;
  /** The reason that a user gave for cancelling the job. */
  readonly cancel_requested?: string | undefined;
  /** Names for templates: `job.job_id`, `job.workflow_id`, `job.correlation_id` … */
  readonly context: JsonObject;
  /** The allow-listed environment, for templates. */
  readonly env: JsonObject;
}

export interface NodeFact {
  readonly node_id: string;
  readonly status: NodeStatus;
  /** Number of the current attempt, or of the next one while it is not dispatched. */
  readonly attempt: number;
  readonly retry_count: number;
  readonly throttle_count: number;
  /** Milliseconds; set while a failed attempt waits for its next. */
  readonly retry_at?: number | undefined;
  readonly output?: JsonObject | undefined;
  /** Parameters as rendered for the first attempt; a retry sends the same. */
  readonly params?: JsonObject | undefined;
  readonly error?: TaskError | undefined;
  /** Only of an expanded fan-out. */
  readonly fan_out?: FanOutCounters | undefined;
  /** Only of a fan-out child. */
  readonly parent?: { readonly node_id: string; readonly index: number } | undefined;
}

/** Counters on the parent: settling a child costs the same with ten children as with a million. */
export interface FanOutCounters {
  readonly total: number;
  /** Children with a smaller index were dispatched; each holds its slot until it is settled. */
  readonly next_index: number;
  /** Children with a smaller index have a row; absent: all of them. */
  readonly created?: number;
  readonly completed: number;
  readonly failed: number;
  /** The first few failed children, for the error message. */
  readonly failed_indexes: readonly number[];
  /** Absent in rows of older programs. */
  readonly first_errors?: readonly ChildError[];
}

/** The error of a failed child, as the error of its fan-out tells it. */
export interface ChildError extends JsonObject {
  readonly node_id: string;
  readonly code: string;
  readonly message: string;
  readonly category: ErrorCategory;
}

export interface Report {
  readonly task_id: string;
  readonly node_id: string;
  readonly outcome:
    | { readonly status: "completed"; readonly output: JsonObject }
    | { readonly status: "failed"; readonly error: TaskError };
}

export type Collected =
  | { readonly ok: true; readonly output: JsonObject }
  | { readonly ok: false; readonly error: TaskError };

/** What one source of a fan-in contributed, for `aggregate`. */
export interface Contribution {
  readonly node_id: string;
  readonly index: number;
  readonly output?: Json | undefined;
  readonly error?: TaskError | undefined;
}
