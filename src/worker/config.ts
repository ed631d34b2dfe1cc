import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import path from "node:path";
import { z } from "zod";
import type { DataFactorySettings } from "../adapters/azure/data-factory.ts";
import {
  dataFactoryEnvironment,
  namesItsFactory,
  toDataFactorySettings,
} from "../adapters/azure/settings.ts";
import {
  brokerEnvironment,
  namesItsBroker,
  toBrokerSettings,
} from "../adapters/broker/settings.ts";
import type { BrokerSettings } from "../adapters/broker/settings.ts";
import { gdalOptions, toGdalSettings } from "../adapters/gdal/create-gdal.ts";
import type { GdalSettings } from "../adapters/gdal/create-gdal.ts";
import { isLoopback } from "../adapters/http/access.ts";
import { logEnvironment, parseEnvironment, runMode } from "../adapters/runtime/environment.ts";
import { failPointSpec } from "../adapters/runtime/fail-points.ts";
import { version } from "../adapters/runtime/version.ts";
import {
  namesItsAccount,
  sourceEnvironment,
  storageEnvironment,
  toSourceEnvironment,
  toStorageSettings,
} from "../adapters/storage/settings.ts";
import type { SourceEnvironment, StorageSettings } from "../adapters/storage/settings.ts";
import { toTracingSettings, tracingEnvironment } from "../adapters/tracing/settings.ts";
import type { TracingSettings } from "../adapters/tracing/settings.ts";
import type { ParameterDefaults } from "../core/handlers/parameter-defaults.ts";
import {
  parameterDefaultsEnvironment,
  toParameterDefaults,
} from "../core/handlers/parameter-defaults.ts";
import { queueFor } from "../core/queues.ts";

export interface WorkerConfig {
  /** Undefined: the worker reaches only the orchestrator, over HTTP. */
  readonly databaseUrl: string | undefined;
  readonly workerId: string;
  /** A worker that has died, and whose tasks this one returns to their queues. */
  readonly replaces: string | undefined;
  readonly broker: BrokerSettings;
  readonly queues: readonly string[];
  readonly concurrency: number;
  readonly callbackUrl: string | undefined;
  readonly serviceToken: string | undefined;
  /** Folders with handlers of the user's. */
  readonly handlerFolders: readonly string[];
  /** Run one handler with these parameters (JSON) and end; undefined: work. */
  readonly alone: { readonly handler: string; readonly params: string } | undefined;
  readonly mayShadowHandlers: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly mayPush: boolean;
  readonly failPoint: z.output<typeof failPointSpec> | undefined;
  readonly logLevel: string;
  readonly logFormat: "json" | "text";
  readonly tracing: TracingSettings | undefined;
  readonly dataFolder: string;
  readonly storage: StorageSettings;
  readonly gdal: GdalSettings;
  readonly sources: SourceEnvironment;
  readonly parameterDefaults: ParameterDefaults;
  /** Copies public data; undefined: the worker copies them. */
  readonly dataFactory: DataFactorySettings | undefined;
  /** Where probes are answered; undefined: nowhere. */
  readonly health: { readonly host: string; readonly port: number } | undefined;
  readonly heartbeatMs: number;
  readonly graceMs: number;
  readonly host: string;
  readonly version: string;
}

const seconds = (fallback: number) => z.coerce.number().positive().max(86_400).default(fallback);

/** By where they run, as the reference architecture names them. */
const otherTypes = new Map([
  ["docker", "heavy"],
  ["functionapp", "light"],
]);

/** The address of the orchestrator may be given as that of the route for results. */
const resultPath = /\/api\/v1\/callbacks\/task-results?\/?$/;
const workerId = z
  .string()
  .regex(/^[\w.:-]{1,128}$/, "must be 1 to 128 letters, digits or . _ : -");

/** Every setting, with its default. */
const environment = z
  .object({
    RUN_MODE: runMode("worker"),
    DATABASE_URL: z
      .url({
        protocol: /^postgres(ql)?$/,
        error: "must name the database, such as postgres://user:password@host:5432/name",
      })
      .optional(),
    WORKER_ID: workerId.optional(),
    WORKER_REPLACES: workerId.optional(),
    WORKER_TYPE: z
      .string()
      .transform((text) => otherTypes.get(text) ?? text)
      .pipe(z.enum(Object.keys(queueFor) as (keyof typeof queueFor)[]))
      .default("general"),
    WORKER_QUEUE: z.string().optional(),
    WORKER_CONCURRENCY: z.coerce.number().int().min(1).max(1000).default(4),
    WORKER_HOST: z.string().min(1).default("127.0.0.1"),
    WORKER_PORT: z.coerce.number().int().min(0).max(65_535).optional(),
    WORKER_HEARTBEAT_SECONDS: seconds(10),
    WORKER_SHUTDOWN_SECONDS: seconds(30),
    DAG_CALLBACK_URL: z
      .url({ protocol: /^https?$/ })
      .transform((url) => url.replace(resultPath, ""))
      .optional(),
    DAG_SERVICE_TOKEN: z.string().min(1).optional(),
    RMHDAG_RUN_HANDLER: z.string().min(1).optional(),
    RMHDAG_RUN_PARAMS: z.string().default("{}"),
    RMHDAG_HANDLERS: z.string().optional(),
    RMHDAG_ALLOW_SHADOWING: z.enum(["true", "false"]).default("false"),
    WORKER_LINKS: z.enum(["true", "false"]).default("true"),
    RMHDAG_FAIL_POINT: failPointSpec.optional(),
    ...logEnvironment,
    ...tracingEnvironment,
    ...brokerEnvironment,
    RMHDAG_DATA_DIR: z.string().min(1).default(".rmhdag"),
    ...sourceEnvironment,
    ...gdalOptions,
    ...parameterDefaultsEnvironment,
    ...storageEnvironment,
    ...dataFactoryEnvironment,
  })
  .refine(...namesItsAccount)
  .refine(...namesItsFactory)
  .refine(...namesItsBroker)
  .refine((env) => isPrivate(env.DAG_CALLBACK_URL), {
    path: ["DAG_CALLBACK_URL"],
    message:
      "must begin with https: tasks, results and the token would cross the network as plain text",
  })
  .refine((env) => env.RMHDAG_RUN_HANDLER ?? env.DATABASE_URL ?? env.DAG_CALLBACK_URL, {
    path: ["DATABASE_URL"],
    message:
      "must name the database, such as postgres://user:password@host:5432/name; " +
      "or DAG_CALLBACK_URL the orchestrator of a worker without one",
  });

export function readConfig(env: NodeJS.ProcessEnv = process.env): WorkerConfig {
  const settings = parseEnvironment(environment, env);
  const host = hostname();
  const dataFolder = path.resolve(settings.RMHDAG_DATA_DIR);
  const queues = list(settings.WORKER_QUEUE) ?? [queueFor[settings.WORKER_TYPE]];
  return {
    databaseUrl: settings.DATABASE_URL,
    workerId: settings.WORKER_ID ?? `${host}-${process.pid}-${randomBytes(3).toString("hex")}`,
    replaces: settings.WORKER_REPLACES,
    broker: toBrokerSettings(settings),
    queues,
    concurrency: settings.WORKER_CONCURRENCY,
    callbackUrl: baseOf(settings.DAG_CALLBACK_URL),
    serviceToken: settings.DAG_SERVICE_TOKEN,
    handlerFolders: (list(settings.RMHDAG_HANDLERS) ?? []).map((folder) => path.resolve(folder)),
    alone:
      settings.RMHDAG_RUN_HANDLER === undefined
        ? undefined
        : { handler: settings.RMHDAG_RUN_HANDLER, params: settings.RMHDAG_RUN_PARAMS },
    mayShadowHandlers: settings.RMHDAG_ALLOW_SHADOWING === "true",
    environment: env,
    mayPush: settings.WORKER_LINKS === "true",
    failPoint: settings.RMHDAG_FAIL_POINT,
    logLevel: settings.LOG_LEVEL,
    logFormat: settings.LOG_FORMAT,
    tracing: toTracingSettings(settings, "worker"),
    dataFolder,
    storage: toStorageSettings(settings, dataFolder),
    gdal: toGdalSettings(settings),
    sources: toSourceEnvironment(settings),
    parameterDefaults: toParameterDefaults(settings),
    dataFactory: toDataFactorySettings(settings),
    health:
      settings.WORKER_PORT === undefined
        ? undefined
        : { host: settings.WORKER_HOST, port: settings.WORKER_PORT },
    heartbeatMs: settings.WORKER_HEARTBEAT_SECONDS * 1000,
    graceMs: settings.WORKER_SHUTDOWN_SECONDS * 1000,
    host,
    version,
  };
}

/** Plain text stays on this machine. */
function isPrivate(url: string | undefined): boolean {
  if (url === undefined) return true;
  const { protocol, hostname: host } = new URL(url);
  return protocol === "https:" || isLoopback(host);
}

/** The address of the orchestrator; older settings name the route of results. */
function baseOf(url: string | undefined): string | undefined {
  return url?.replace(/\/+$/, "").replace(/\/api\/v1\/callbacks(\/[\w-]+)?$/, "");
}

/** Reads a comma-separated list without repetitions; an empty list counts as not set. */
function list(value: string | undefined): string[] | undefined {
  const names = (value ?? "").split(",").map((name) => name.trim());
  const unique = [...new Set(names.filter((name) => name !== ""))];
  return unique.length > 0 ? unique : undefined;
}
