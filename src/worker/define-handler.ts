import type { Readable } from "node:stream";
import type { z } from "zod";
import type { DataFactory } from "../adapters/azure/data-factory.ts";
import type { Gdal } from "../adapters/gdal/gdal.ts";
import type { Database } from "../adapters/postgres/database.ts";
import type { SourceResolver } from "../adapters/storage/resolve-source.ts";
import type { Storage } from "../adapters/storage/storage.ts";
import { handlerCatalogue } from "../core/handlers/index.ts";
import type { HandlerContract } from "../core/handlers/index.ts";
import type { exportContracts } from "../core/handlers/export.ts";
import type { fathomContracts } from "../core/handlers/fathom.ts";
import type { fileContracts } from "../core/handlers/files.ts";
import type { h3Contracts } from "../core/handlers/h3.ts";
import type { platformContracts } from "../core/handlers/platform.ts";
import type { rasterContracts } from "../core/handlers/raster.ts";
import type { stageContracts } from "../core/handlers/stages.ts";
import type { stacContracts } from "../core/handlers/stac.ts";
import type { testingContracts } from "../core/handlers/testing.ts";
import type { vectorContracts } from "../core/handlers/vector.ts";
import type { JsonObject } from "../core/model/json.ts";
import type { TaskLogger } from "./task-logger.ts";

export type Contract =
  | (typeof testingContracts)[number]
  | (typeof exportContracts)[number]
  | (typeof platformContracts)[number]
  | (typeof fileContracts)[number]
  | (typeof stageContracts)[number]
  | (typeof rasterContracts)[number]
  | (typeof h3Contracts)[number]
  | (typeof fathomContracts)[number]
  | (typeof stacContracts)[number]
  | (typeof vectorContracts)[number];
export type HandlerName = Contract["name"];
type ContractOf<Name extends HandlerName> = Extract<Contract, { name: Name }>;

export interface SavedCheckpoint {
  readonly phase: string;
  readonly data: JsonObject;
}

/**
 * Everything that a handler may use. It contains the task and nothing of the workflow. What is made at its
 * first use is an accessor of a class, which `{ ...context }` does not copy.
 */
export interface HandlerContext {
  readonly task_id: string;
  readonly job_id: string;
  readonly node_id: string;
  /** The number of earlier attempts of this node; a redelivered message is the same attempt. */
  readonly attempt: number;
  /** For the header `traceparent` of requests that the handler makes; undefined: it is not traced. */
  readonly trace_parent?: string | undefined;
  /** Aborted on timeout, cancellation, loss of the lease and shutdown: save a checkpoint and stop. */
  readonly signal: AbortSignal;
  readonly logger: TaskLogger;
  /** Cheap to call often: only the newest value is written, about once a second. */
  progress(percent: number, message?: string): void;
  readonly checkpoint: {
    /** Loads the newest checkpoint of the node, also of an earlier attempt or another worker. */
    load(): Promise<SavedCheckpoint | undefined>;
    save(phase: string, data: JsonObject): Promise<void>;
  };
  /**
   * Reads the JSON of one parameter as a stream. Where the handler names the parameter in `streams`, a
   * large value comes from storage piece by piece and is never whole in memory.
   */
  stream(param: string): Readable;
  readonly storage: Storage;
  /** Resolves a path or address of the parameters, and refuses sources that may not be read. */
  readonly sources: SourceResolver;
  readonly gdal: Gdal;
  /** For catalogue and feature tables. Undefined where the worker reports over HTTP only. */
  readonly database: Database | undefined;
  /** The folder of this task, created at its first use and removed after the task. */
  readonly workDir: string;
  /** The variables of the worker's process that programs of handlers may be given. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Undefined: none is configured. */
  readonly dataFactory?: DataFactory | undefined;
  /** A folder that all tasks of this worker share and sources may name; it is never emptied. */
  readonly mountDir: string;
}

export interface Handler {
  readonly contract: HandlerContract;
  /** Parameters that are not loaded: the handler reads them with `context.stream`. */
  readonly streams?: readonly string[] | undefined;
  /** `params` were validated by the contract. */
  run(params: unknown, context: HandlerContext): Promise<unknown>;
}

/** Whether a value that a module exports is a handler. */
export function isHandler(value: unknown): value is Handler {
  if (typeof value !== "object" || value === null) return false;
  const { contract, run } = value as Partial<Handler>;
  return typeof run === "function" && typeof contract?.name === "string";
}

/** Binds a function to its contract, whose schemas give the types of parameters and result. */
export function defineHandler<Name extends HandlerName>(
  name: Name,
  run: (
    params: z.output<ContractOf<Name>["params"]>,
    context: HandlerContext,
  ) => Promise<z.input<ContractOf<Name>["result"]>>,
): Handler {
  const contract = handlerCatalogue.get(name);
  if (contract === undefined) throw new Error(`The catalogue has no handler "${name}".`);
  return { contract, run };
}
