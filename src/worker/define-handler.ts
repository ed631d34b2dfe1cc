import type { z } from "zod";
import type { Gdal } from "../adapters/gdal/gdal.ts";
import type { Database } from "../adapters/postgres/database.ts";
import type { SourceResolver } from "../adapters/storage/resolve-source.ts";
import type { Storage } from "../adapters/storage/storage.ts";
import { handlerCatalogue } from "../core/handlers/index.ts";
import type { HandlerContract } from "../core/handlers/index.ts";
import type { exportContracts } from "../core/handlers/export.ts";
import type { rasterContracts } from "../core/handlers/raster.ts";
import type { stacContracts } from "../core/handlers/stac.ts";
import type { testingContracts } from "../core/handlers/testing.ts";
import type { vectorContracts } from "../core/handlers/vector.ts";
import type { JsonObject } from "../core/model/json.ts";
import type { TaskLogger } from "./task-logger.ts";

export type Contract =
  | (typeof testingContracts)[number]
  | (typeof exportContracts)[number]
  | (typeof rasterContracts)[number]
  | (typeof stacContracts)[number]
  | (typeof vectorContracts)[number];
export type HandlerName = Contract["name"];
type ContractOf<Name extends HandlerName> = Extract<Contract, { name: Name }>;

export interface SavedCheckpoint {
  readonly phase: string;
  readonly data: JsonObject;
}

/** All that a handler knows of the world: its task, and nothing of workflows. */
export interface HandlerContext {
  readonly task_id: string;
  readonly job_id: string;
  readonly node_id: string;
  /** Attempts of this node before this one; a redelivered message is still the same attempt. */
  readonly attempt: number;
  /** Aborted on timeout, cancellation, loss of the lease and shutdown: save what you have, stop. */
  readonly signal: AbortSignal;
  readonly logger: TaskLogger;
  /** Cheap to call often: only the newest value is written, about once a second. */
  progress(percent: number, message?: string): void;
  readonly checkpoint: {
    /** The node's newest, also when an earlier attempt or another worker saved it. */
    load(): Promise<SavedCheckpoint | undefined>;
    save(phase: string, data: JsonObject): Promise<void>;
  };
  readonly storage: Storage;
  /** What a path or address in the parameters means, and whether it may be read. */
  readonly sources: SourceResolver;
  readonly gdal: Gdal;
  /** For catalogue and feature tables. Undefined where the worker reports over HTTP only. */
  readonly database: Database | undefined;
  /** A folder of the task's own, made at the first use and removed after the task. */
  readonly workDir: string;
  /** A folder that all tasks of this worker share, and sources may name; nobody empties it. */
  readonly mountDir: string;
}

export interface Handler {
  readonly contract: HandlerContract;
  /** `params` were checked against the contract. */
  run(params: unknown, context: HandlerContext): Promise<unknown>;
}

/** An implementation, typed by its contract's schemas. */
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
