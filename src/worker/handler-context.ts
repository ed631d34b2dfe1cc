import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import path from "node:path";
import type { Delivery } from "../adapters/broker/broker.ts";
import type { DataFactory } from "../adapters/azure/data-factory.ts";
import type { Gdal } from "../adapters/gdal/gdal.ts";
import type { Database } from "../adapters/postgres/database.ts";
import { reach } from "../adapters/runtime/fail-points.ts";
import type { Logger } from "../adapters/runtime/logger.ts";
import type { SourceResolver } from "../adapters/storage/resolve-source.ts";
import type { Storage } from "../adapters/storage/storage.ts";
import { streamValue } from "../adapters/storage/stored-values.ts";
import type { Mask } from "../core/model/mask.ts";
import { checkOutput } from "../core/model/output.ts";
import type { HandlerContext } from "./define-handler.ts";
import { PermanentError, TransientError } from "./errors.ts";
import { recordingStorage } from "./record-files.ts";
import type { Reporter, RunningTask } from "./reporter.ts";
import type { StopSignal } from "./task-timeout.ts";
import { createTaskLogger } from "./task-logger.ts";
import type { TaskLogger } from "./task-logger.ts";

export interface ContextDependencies {
  readonly reporter: Reporter;
  readonly storage: Storage;
  readonly sources: SourceResolver;
  readonly gdal: Gdal;
  readonly database: Database | undefined;
  /** Storage and sources of one task, where they depend on its lease. */
  readonly reachOf?: ((delivery: Delivery) => Reach) | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly dataFactory?: DataFactory | undefined;
  readonly workFolder: string;
  readonly mountFolder: string;
  /** The context of the handler's span. */
  readonly traceParent?: string | undefined;
  readonly log: Logger;
}

export interface Reach {
  readonly storage: Storage;
  readonly sources: SourceResolver;
}

const checkpointLimits = { maxBytes: 1024 * 1024, maxDepth: 64 };

export function createContext(
  deps: ContextDependencies,
  task: RunningTask,
  stop: Pick<StopSignal, "signal">,
  mask?: Mask,
): { readonly context: HandlerContext; cleanUp(): Promise<void> } {
  const { reporter, workFolder, log } = deps;
  const { task_id, job_id, node_id, attempt, params } = task.message;
  const access = deps.reachOf?.(task.delivery) ?? deps;
  let logger: TaskLogger | undefined;
  let workDir: string | undefined;
  let storage: Storage | undefined;
  let saving: Promise<unknown> = Promise.resolve();

  async function save(phase: string, data: unknown): Promise<void> {
    const checked = checkOutput(data, checkpointLimits);
    if (!checked.ok) {
      const message = `The checkpoint of "${phase}" cannot be saved. ${checked.error.message}`;
      throw new PermanentError(message, { code: "CHECKPOINT_INVALID" });
    }
    reach("worker.checkpoint_before_save");
    if ((await reporter.saveCheckpoint(task, phase, checked.json)) === "lost") {
      throw new TransientError("Another worker has this task by now.", { code: "LEASE_LOST" });
    }
    reach("worker.checkpoint_after_save");
  }

  const context: HandlerContext = {
    task_id,
    job_id,
    node_id,
    attempt,
    trace_parent: deps.traceParent,
    get signal() {
      return stop.signal;
    },
    get logger() {
      return (logger ??= createTaskLogger(
        log,
        { task_id, job_id, node_id },
        (line) => {
          reporter.log(task, line);
        },
        mask,
      ));
    },
    get storage() {
      return (storage ??=
        deps.database === undefined
          ? access.storage
          : recordingStorage(access.storage, deps.database, { job_id, node_id }));
    },
    stream: (param) => {
      const value = Object.hasOwn(params, param) ? params[param] : undefined;
      if (value !== undefined) return streamValue(access.storage, value);
      throw new PermanentError(`There is no parameter "${param}".`, { code: "INVALID_PARAMS" });
    },
    sources: access.sources,
    gdal: deps.gdal,
    database: deps.database,
    environment: deps.environment,
    dataFactory: deps.dataFactory,
    mountDir: deps.mountFolder,
    progress: (percent, message) => {
      // An invalid percentage is ignored: progress must not fail a task.
      if (!Number.isFinite(percent)) return;
      const shown = message === undefined ? undefined : (mask?.text(message) ?? message);
      reporter.progress(task, Math.min(100, Math.max(0, percent)), shown);
    },
    checkpoint: {
      load: () => reporter.loadCheckpoint(task),
      // Saved one after the other, because their numbers are their order.
      save: (phase, data) => {
        const saved = saving.catch(() => undefined).then(() => save(phase, data));
        saving = saved;
        return saved;
      },
    },
    get workDir() {
      return (workDir ??= mkdtempSync(path.join(workFolder, "task-")));
    },
  };
  return {
    context,
    cleanUp: async () => {
      if (workDir !== undefined) await rm(workDir, { recursive: true, force: true });
    },
  };
}
