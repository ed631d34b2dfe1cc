import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import path from "node:path";
import { z } from "zod";
import { gdalOptions, toGdalSettings } from "../adapters/gdal/create-gdal.ts";
import type { GdalSettings } from "../adapters/gdal/create-gdal.ts";
import { logEnvironment, parseEnvironment } from "../adapters/runtime/environment.ts";
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
import { queueFor } from "../core/queues.ts";

export interface WorkerConfig {
  readonly databaseUrl: string;
  readonly workerId: string;
  readonly queues: readonly string[];
  readonly concurrency: number;
  readonly callbackUrl: string | undefined;
  readonly serviceToken: string | undefined;
  readonly mayPush: boolean;
  readonly failPoint: z.output<typeof failPointSpec> | undefined;
  readonly logLevel: string;
  readonly logFormat: "json" | "text";
  readonly dataFolder: string;
  readonly storage: StorageSettings;
  readonly gdal: GdalSettings;
  readonly sources: SourceEnvironment;
  readonly heartbeatMs: number;
  readonly graceMs: number;
  readonly host: string;
  readonly version: string;
}

const seconds = (fallback: number) => z.coerce.number().positive().max(86_400).default(fallback);

/** Every setting, with its default. */
const environment = z
  .object({
    DATABASE_URL: z.url({
      protocol: /^postgres(ql)?$/,
      error: "must name the database, such as postgres://user:password@host:5432/name",
    }),
    WORKER_ID: z
      .string()
      .regex(/^[\w.:-]{1,128}$/, "must be 1 to 128 letters, digits or . _ : -")
      .optional(),
    WORKER_TYPE: z.enum(Object.keys(queueFor) as (keyof typeof queueFor)[]).default("general"),
    WORKER_QUEUE: z.string().optional(),
    WORKER_CONCURRENCY: z.coerce.number().int().min(1).max(1000).default(4),
    WORKER_HEARTBEAT_SECONDS: seconds(10),
    WORKER_SHUTDOWN_SECONDS: seconds(30),
    DAG_CALLBACK_URL: z.url({ protocol: /^https?$/ }).optional(),
    DAG_SERVICE_TOKEN: z.string().min(1).optional(),
    WORKER_LINKS: z.enum(["true", "false"]).default("true"),
    RMHDAG_FAIL_POINT: failPointSpec.optional(),
    ...logEnvironment,
    RMHDAG_DATA_DIR: z.string().min(1).default(".rmhdag"),
    ...sourceEnvironment,
    ...gdalOptions,
    ...storageEnvironment,
  })
  .refine(...namesItsAccount);

export function readConfig(env: NodeJS.ProcessEnv = process.env): WorkerConfig {
  const settings = parseEnvironment(environment, env);
  const host = hostname();
  const dataFolder = path.resolve(settings.RMHDAG_DATA_DIR);
  const queues = list(settings.WORKER_QUEUE) ?? [queueFor[settings.WORKER_TYPE]];
  return {
    databaseUrl: settings.DATABASE_URL,
    workerId: settings.WORKER_ID ?? `${host}-${process.pid}-${randomBytes(3).toString("hex")}`,
    queues,
    concurrency: settings.WORKER_CONCURRENCY,
    callbackUrl: settings.DAG_CALLBACK_URL,
    serviceToken: settings.DAG_SERVICE_TOKEN,
    mayPush: settings.WORKER_LINKS === "true",
    failPoint: settings.RMHDAG_FAIL_POINT,
    logLevel: settings.LOG_LEVEL,
    logFormat: settings.LOG_FORMAT,
    dataFolder,
    storage: toStorageSettings(settings, dataFolder),
    gdal: toGdalSettings(settings),
    sources: toSourceEnvironment(settings),
    heartbeatMs: settings.WORKER_HEARTBEAT_SECONDS * 1000,
    graceMs: settings.WORKER_SHUTDOWN_SECONDS * 1000,
    host,
    version,
  };
}

/** Reads a comma-separated list without repetitions; an empty list counts as not set. */
function list(value: string | undefined): string[] | undefined {
  const names = (value ?? "").split(",").map((name) => name.trim());
  const unique = [...new Set(names.filter((name) => name !== ""))];
  return unique.length > 0 ? unique : undefined;
}
