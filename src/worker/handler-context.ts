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

/**
 * The context of one task. Most handlers read little of it, so what must be made is made at its first use.
 * A class: an object literal with accessors takes microseconds to make.
 */
export class TaskContext implements HandlerContext {
  readonly task_id: string;
  readonly job_id: string;
  readonly node_id: string;
  readonly attempt: number;
  readonly trace_parent: string | undefined;
  readonly sources: SourceResolver;
  readonly gdal: Gdal;
  readonly database: Database | undefined;
  readonly environment: ContextDependencies["environment"];
  readonly dataFactory: DataFactory | undefined;
  readonly mountDir: string;
  private readonly deps: ContextDependencies;
  private readonly access: Reach;
  private readonly task: RunningTask;
  private readonly stop: Pick<StopSignal, "signal">;
  private readonly mask: Mask | undefined;
  private madeLogger: TaskLogger | undefined;
  private madeStorage: Storage | undefined;
  private madeFolder: string | undefined;
  private madeCheckpoint: HandlerContext["checkpoint"] | undefined;

  constructor(
    deps: ContextDependencies,
    task: RunningTask,
    stop: Pick<StopSignal, "signal">,
    mask?: Mask,
  ) {
    const { message } = task;
    this.access = deps.reachOf?.(task.delivery) ?? deps;
    this.task_id = message.task_id;
    this.job_id = message.job_id;
    this.node_id = message.node_id;
    this.attempt = message.attempt;
    this.trace_parent = deps.traceParent;
    this.sources = this.access.sources;
    this.gdal = deps.gdal;
    this.database = deps.database;
    this.environment = deps.environment;
    this.dataFactory = deps.dataFactory;
    this.mountDir = deps.mountFolder;
    this.deps = deps;
    this.task = task;
    this.stop = stop;
    this.mask = mask;
  }

  get signal(): AbortSignal {
    return this.stop.signal;
  }

  get logger(): TaskLogger {
    const { task_id, job_id, node_id, deps, task, mask } = this;
    return (this.madeLogger ??= createTaskLogger(
      deps.log,
      { task_id, job_id, node_id },
      (line) => {
        deps.reporter.log(task, line);
      },
      mask,
    ));
  }

  get storage(): Storage {
    const { job_id, node_id, database, access } = this;
    return (this.madeStorage ??=
      database === undefined
        ? access.storage
        : recordingStorage(access.storage, database, { job_id, node_id }));
  }

  get workDir(): string {
    return (this.madeFolder ??= mkdtempSync(path.join(this.deps.workFolder, "task-")));
  }

  get checkpoint(): HandlerContext["checkpoint"] {
    return (this.madeCheckpoint ??= createCheckpoint(this.deps.reporter, this.task));
  }

  /** An accessor, as `progress`: handlers take these functions out of the context. */
  get stream(): HandlerContext["stream"] {
    const { params } = this.task.message;
    return (param) => {
      const value = Object.hasOwn(params, param) ? params[param] : undefined;
      if (value !== undefined) return streamValue(this.access.storage, value);
      throw new PermanentError(`There is no parameter "${param}".`, { code: "INVALID_PARAMS" });
    };
  }

  get progress(): HandlerContext["progress"] {
    return (percent, message) => {
      // An invalid percentage is ignored: progress must not fail a task.
      if (!Number.isFinite(percent)) return;
      const shown = message === undefined ? undefined : (this.mask?.text(message) ?? message);
      this.deps.reporter.progress(this.task, Math.min(100, Math.max(0, percent)), shown);
    };
  }

  /** Removes the work folder; undefined: there is none. */
  cleanUp(): Promise<void> | undefined {
    const { madeFolder } = this;
    return madeFolder === undefined ? undefined : rm(madeFolder, { recursive: true, force: true });
  }
}

function createCheckpoint(reporter: Reporter, task: RunningTask): HandlerContext["checkpoint"] {
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

  return {
    load: () => reporter.loadCheckpoint(task),
    // Saved one after the other, because their numbers are their order.
    save: (phase, data) => {
      const saved = saving.catch(() => undefined).then(() => save(phase, data));
      saving = saved;
      return saved;
    },
  };
}
