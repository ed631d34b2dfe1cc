/** The port through which a worker reports results, progress, checkpoints and log lines of its tasks. */
import type { Delivery, Settled } from "../adapters/broker/broker.ts";
import type { TaskMessage } from "../core/messages.ts";
import type { TaskError } from "../core/model/task.ts";
import type { SavedCheckpoint } from "./define-handler.ts";

export interface RunningTask {
  readonly message: TaskMessage;
  readonly delivery: Delivery;
}

/** How a task ended. The output is validated JSON text. */
export type Outcome =
  | { readonly status: "completed"; readonly output: string }
  | { readonly status: "failed"; readonly error: TaskError };

export interface LogLine {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly message: string;
  /** JSON text. */
  readonly data: string | null;
}

export interface Reporter {
  /** Also settles the delivery. `lost`: another worker has the task, and nothing was recorded. */
  report(task: RunningTask, outcome: Outcome): Promise<Settled>;
  /** Debounced: only the newest progress of a task is written. */
  progress(task: RunningTask, percent: number, message: string | undefined): void;
  loadCheckpoint(task: RunningTask): Promise<SavedCheckpoint | undefined>;
  /** `lost`: another worker has the task, and nothing was saved. */
  saveCheckpoint(task: RunningTask, phase: string, data: string): Promise<Settled>;
  /** Debounced; lines are lost when too many wait or the database is away. */
  log(task: RunningTask, line: LogLine): void;
  /** Writes everything that waits. */
  close(): Promise<void>;
}
