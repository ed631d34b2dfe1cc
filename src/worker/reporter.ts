/** The port through which a worker tells what became of its tasks. */
import type { Delivery, Settled } from "../adapters/broker/broker.ts";
import type { TaskMessage } from "../core/messages.ts";
import type { TaskError } from "../core/model/task.ts";
import type { SavedCheckpoint } from "./define-handler.ts";

export interface RunningTask {
  readonly message: TaskMessage;
  readonly delivery: Delivery;
}

/** Outputs are checked and written out as JSON text before they get here. */
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
  /** Also settles the delivery. `lost`: somebody else has the task, and nothing was recorded. */
  report(task: RunningTask, outcome: Outcome): Promise<Settled>;
  /** Forgetful: the newest of each task is told now and then. */
  progress(task: RunningTask, percent: number, message: string | undefined): void;
  loadCheckpoint(task: RunningTask): Promise<SavedCheckpoint | undefined>;
  /** `lost`: the task is no longer this worker's, and nothing was saved. */
  saveCheckpoint(task: RunningTask, phase: string, data: string): Promise<Settled>;
  /** Best effort. */
  log(task: RunningTask, line: LogLine): void;
  /** Writes what is still waiting. */
  close(): Promise<void>;
}
