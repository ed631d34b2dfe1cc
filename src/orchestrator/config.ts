import path from "node:path";
import { z } from "zod";
import {
  namesItsAccount,
  sourceEnvironment,
  storageEnvironment,
  toSourceEnvironment,
  toStorageSettings,
} from "../adapters/storage/settings.ts";
import {
  brokerEnvironment,
  namesItsBroker,
  toBrokerSettings,
} from "../adapters/broker/settings.ts";
import { serviceToken } from "../adapters/http/tokens.ts";
import {
  list,
  logEnvironment,
  parseEnvironment,
  runMode,
} from "../adapters/runtime/environment.ts";
import { toTracingSettings, tracingEnvironment } from "../adapters/tracing/settings.ts";
import { failPointSpec } from "../adapters/runtime/fail-points.ts";
import { mostChildren } from "../core/model/limits.ts";
import { callbackHost } from "../core/model/platform.ts";
import { jobQueue, taskQueues } from "../core/queues.ts";
import { siteDefaultsEnvironment } from "../core/handlers/site-defaults.ts";
import { retentionEnvironment, toRetentionSettings } from "../core/retention/classes.ts";

const seconds = z.coerce.number().positive();
const network = z.union([z.cidrv4(), z.cidrv6()]);
const headerName = z
  .string()
  .regex(/^[A-Za-z0-9-]{1,64}$/, "must be the name of a header, such as X-Forwarded-User")
  .transform((name) => name.toLowerCase());
const flag = z.enum(["true", "false"]).transform((text) => text === "true");

const schema = z
  .object({
    RUN_MODE: runMode("orchestrator"),
    DATABASE_URL: z.url({
      protocol: /^postgres(ql)?$/,
      error: "must name the database; or set POSTGRES_HOST, POSTGRES_DB, POSTGRES_USER",
    }),
    EXTERNAL_DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }).optional(),
    MIGRATION_DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }).optional(),
    ORCHESTRATOR_HOST: z.string().default("127.0.0.1"),
    ORCHESTRATOR_PORT: z.coerce.number().int().min(0).max(65_535).default(8000),
    ORCHESTRATOR_HEADERS_TIMEOUT_SEC: seconds.default(10),
    ORCHESTRATOR_REQUEST_TIMEOUT_SEC: seconds.default(30),
    ORCHESTRATOR_MAX_CONNECTIONS: z.coerce.number().int().min(1).default(2000),
    ORCHESTRATOR_LINK_HOST: z.string().min(1).default("127.0.0.1"),
    ORCHESTRATOR_LINK_PORT: z.coerce.number().int().min(0).max(65_535).default(0),
    ORCHESTRATOR_ID: z.string().min(1).max(64).optional(),
    RMHDAG_WORKFLOWS: list.default(["workflows"]),
    RMHDAG_DATA_DIR: z.string().min(1).default(".rmhdag"),
    RMHDAG_TASK_QUEUES: list.default([...taskQueues]),
    ...siteDefaultsEnvironment,
    ...retentionEnvironment,
    RMHDAG_TEMPLATE_ENV: list.default([]),
    JOB_QUEUE_NAME: z.string().min(1).default(jobQueue),
    POLL_INTERVAL_SEC: seconds.default(1),
    HEARTBEAT_INTERVAL_SEC: seconds.default(30),
    ORPHAN_THRESHOLD_SEC: seconds.default(120),
    ORPHAN_SCAN_INTERVAL_SEC: seconds.default(60),
    RECOVER_INTERVAL_SEC: seconds.default(5),
    LEASE_SEC: seconds.default(30),
    MESSAGE_LOST_SEC: seconds.default(300),
    MAX_DELIVERIES: z.coerce.number().int().min(1).default(5),
    MAX_FAN_OUT: z.coerce.number().int().min(1).max(mostChildren).default(200_000),
    UPLOAD_MAX_BYTES: z.coerce
      .number()
      .int()
      .positive()
      .default(64 * 1024 ** 3),
    DAG_SERVICE_TOKENS: list.pipe(z.array(serviceToken)).default([]),
    LOGIN_CODE_SEC: seconds.max(86_400).default(600),
    SESSION_IDLE_SEC: seconds.max(2_592_000).default(28_800),
    SESSION_MAX_SEC: seconds.max(31_536_000).default(604_800),
    CALLBACK_SIGNING_KEY: z.string().min(32).max(512).optional(),
    CALLBACK_HOSTS: list.pipe(z.array(callbackHost)).default([]),
    CALLBACK_PRIVATE_NETWORKS: list.pipe(z.array(network)).default([]),
    RMHDAG_TILE_CACHE_MB: z.coerce.number().int().min(0).default(512),
    RMHDAG_OPEN_ON_LOOPBACK: flag.default(false),
    RMHDAG_TRUSTED_PROXIES: list.pipe(z.array(network)).default([]),
    RMHDAG_TRUSTED_PROXY_USER_HEADER: headerName.default("x-forwarded-user"),
    RMHDAG_TRUSTED_PROXY_ROLES_HEADER: headerName.default("x-forwarded-groups"),
    RMHDAG_ALLOW_REBUILD: flag.default(false),
    RMHDAG_ALLOW_SHADOWING: flag.default(false),
    RMHDAG_ALLOW_TEST_HANDLER: flag.default(false),
    RMHDAG_FAIL_POINT: failPointSpec.optional(),
    TRACE_URL_TEMPLATE: z
      .url({ protocol: /^https?$/ })
      .refine((url) => /\{trace_id\}/i.test(decodeURI(url)), "must contain {trace_id}")
      .optional(),
    ...logEnvironment,
    ...tracingEnvironment,
    ...brokerEnvironment,
    ...sourceEnvironment,
    ...storageEnvironment,
  })
  .refine(...namesItsAccount)
  .refine(...namesItsBroker)
  .refine((env) => env.ORPHAN_THRESHOLD_SEC >= 3 * env.HEARTBEAT_INTERVAL_SEC, {
    path: ["ORPHAN_THRESHOLD_SEC"],
    message:
      "must be at least three times HEARTBEAT_INTERVAL_SEC, or a slow heartbeat costs healthy jobs their owner",
  });

export type OrchestratorConfig = ReturnType<typeof readConfig>;

export function readConfig(env: NodeJS.ProcessEnv = process.env) {
  const value = parseEnvironment(schema, env);
  return {
    databaseUrl: value.DATABASE_URL,
    externalDatabaseUrl: value.EXTERNAL_DATABASE_URL,
    /** Of the schema's owner, for the routes that change the schema. */
    migrationUrl: value.MIGRATION_DATABASE_URL ?? value.DATABASE_URL,
    host: value.ORCHESTRATOR_HOST,
    port: value.ORCHESTRATOR_PORT,
    timeouts: {
      headersMs: value.ORCHESTRATOR_HEADERS_TIMEOUT_SEC * 1000,
      requestMs: value.ORCHESTRATOR_REQUEST_TIMEOUT_SEC * 1000,
      mostConnections: value.ORCHESTRATOR_MAX_CONNECTIONS,
    },
    push: { host: value.ORCHESTRATOR_LINK_HOST, port: value.ORCHESTRATOR_LINK_PORT },
    ownerId: value.ORCHESTRATOR_ID,
    workflowPaths: value.RMHDAG_WORKFLOWS.map((part) => path.resolve(part)),
    dataFolder: path.resolve(value.RMHDAG_DATA_DIR),
    storage: toStorageSettings(value, path.resolve(value.RMHDAG_DATA_DIR)),
    sources: toSourceEnvironment(value),
    broker: toBrokerSettings(value),
    taskQueues: value.RMHDAG_TASK_QUEUES,
    siteDefaults: { routing: value.TASK_ROUTING, timeouts: value.TASK_TIMEOUTS },
    retention: toRetentionSettings(value),
    /** The variables that templates may read; the rest of the environment is not passed on. */
    templateEnv: Object.fromEntries(
      value.RMHDAG_TEMPLATE_ENV.map((name) => [name, env[name] ?? null]),
    ),
    jobQueue: value.JOB_QUEUE_NAME,
    pollSeconds: value.POLL_INTERVAL_SEC,
    heartbeatSeconds: value.HEARTBEAT_INTERVAL_SEC,
    orphanThresholdSeconds: value.ORPHAN_THRESHOLD_SEC,
    orphanScanSeconds: value.ORPHAN_SCAN_INTERVAL_SEC,
    recoverSeconds: value.RECOVER_INTERVAL_SEC,
    messageLostSeconds: value.MESSAGE_LOST_SEC,
    leaseMs: value.LEASE_SEC * 1000,
    maxDeliveries: value.MAX_DELIVERIES,
    maxFanOut: value.MAX_FAN_OUT,
    uploadMaxBytes: value.UPLOAD_MAX_BYTES,
    serviceTokens: value.DAG_SERVICE_TOKENS,
    signIn: {
      codeSeconds: value.LOGIN_CODE_SEC,
      idleSeconds: value.SESSION_IDLE_SEC,
      sessionSeconds: value.SESSION_MAX_SEC,
    },
    callbackSigningKey: value.CALLBACK_SIGNING_KEY,
    callbackHosts: value.CALLBACK_HOSTS,
    callbackPrivateNetworks: value.CALLBACK_PRIVATE_NETWORKS,
    tileCache: {
      folder: path.resolve(value.RMHDAG_DATA_DIR, "tiles"),
      mostBytes: value.RMHDAG_TILE_CACHE_MB * 1024 * 1024,
    },
    openOnLoopback: value.RMHDAG_OPEN_ON_LOOPBACK,
    trustedProxy:
      value.RMHDAG_TRUSTED_PROXIES.length === 0
        ? undefined
        : {
            networks: value.RMHDAG_TRUSTED_PROXIES,
            userHeader: value.RMHDAG_TRUSTED_PROXY_USER_HEADER,
            rolesHeader: value.RMHDAG_TRUSTED_PROXY_ROLES_HEADER,
          },
    /** Workers may offer handlers under the reserved names. */
    mayShadowHandlers: value.RMHDAG_ALLOW_SHADOWING,
    /** The environment of handlers that operators run for a test; undefined: they may not. */
    testEnvironment: value.RMHDAG_ALLOW_TEST_HANDLER ? env : undefined,
    allowRebuild: value.RMHDAG_ALLOW_REBUILD,
    failPoint: value.RMHDAG_FAIL_POINT,
    /** The page of a trace in the tool that shows traces. */
    traceUrlTemplate: value.TRACE_URL_TEMPLATE,
    tracing: toTracingSettings(value, "orchestrator"),
    logLevel: value.LOG_LEVEL,
    logFormat: value.LOG_FORMAT,
  };
}
