import { z } from "zod";
import { serviceToken } from "../adapters/http/tokens.ts";
import {
  list,
  logEnvironment,
  parseEnvironment,
  runMode,
} from "../adapters/runtime/environment.ts";
import { toTracingSettings, tracingEnvironment } from "../adapters/tracing/settings.ts";
import { parseProxyRule } from "../core/gateway/proxy-rules.ts";

const seconds = z.coerce.number().positive().max(3600);
const httpUrl = z.url({ protocol: /^https?$/ });

const proxyRule = z.string().transform((text, context) => {
  const rule = parseProxyRule(text);
  if (rule !== undefined) return rule;
  context.addIssue(`"${text}" is not a rule: write METHOD /path, with * for one segment`);
  return z.NEVER;
});

/** Allows reading everything and running commands, but no change of jobs or of the schema. */
const defaultProxyRules = [
  ...["GET /livez", "GET /readyz", "GET /health", "GET /metrics"],
  ...["jobs", "nodes", "tasks", "workflows", "queues", "workers", "orchestrators", "metrics"].map(
    (name) => `GET /api/v1/${name}/**`,
  ),
  ...["jobs", "workflows", "queues", "workers", "orchestrators", "commands"].map(
    (name) => `GET /api/v1/${name}`,
  ),
  "POST /api/v1/commands/*",
].join(",");

const schema = z.object({
  RUN_MODE: runMode("gateway"),
  GATEWAY_DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }),
  GATEWAY_HOST: z.string().default("127.0.0.1"),
  GATEWAY_PORT: z.coerce.number().int().min(0).max(65_535).default(7071),
  GATEWAY_PUBLIC_URL: httpUrl.optional(),
  SERVICES_PUBLIC_URL: httpUrl.optional(),
  GATEWAY_OPERATOR_TOKENS: list.pipe(z.array(serviceToken)).default([]),
  GATEWAY_RATE_PER_SECOND: z.coerce.number().positive().default(100),
  GATEWAY_RATE_BURST: z.coerce.number().int().min(1).default(200),
  GATEWAY_PLATFORM_RATE_PER_SECOND: z.coerce.number().positive().optional(),
  GATEWAY_PLATFORM_RATE_BURST: z.coerce.number().int().min(1).optional(),
  GATEWAY_BODY_LIMIT_BYTES: z.coerce.number().int().min(1024).default(1_048_576),
  GATEWAY_HEADERS_TIMEOUT_SEC: seconds.default(10),
  GATEWAY_REQUEST_TIMEOUT_SEC: seconds.default(30),
  GATEWAY_MAX_CONNECTIONS: z.coerce.number().int().min(1).default(2000),
  GATEWAY_KEY_CACHE_SEC: z.coerce.number().min(0).max(60).default(1),
  GATEWAY_GUESSES_PER_MINUTE: z.coerce.number().int().min(1).default(30),
  GATEWAY_TRUSTED_PROXIES: list.pipe(z.array(z.union([z.cidrv4(), z.cidrv6()]))).default([]),
  GATEWAY_FORWARD_TIMEOUT_SEC: seconds.default(30),
  GATEWAY_PROXY_RULES: list.prefault(defaultProxyRules).pipe(z.array(proxyRule)),
  ORCHESTRATOR_URL: httpUrl.default("http://127.0.0.1:8000"),
  WORKER_URL: httpUrl.optional(),
  DAG_SERVICE_TOKEN: z.string().min(1).optional(),
  ...logEnvironment,
  ...tracingEnvironment,
});

export type GatewayConfig = ReturnType<typeof readConfig>;

export function readConfig(env: NodeJS.ProcessEnv = process.env) {
  const value = parseEnvironment(schema, env);
  return {
    databaseUrl: value.GATEWAY_DATABASE_URL,
    host: value.GATEWAY_HOST,
    port: value.GATEWAY_PORT,
    /** Without it links are paths, which work under any host name. */
    publicUrl: (value.GATEWAY_PUBLIC_URL ?? "").replace(/\/+$/, ""),
    servicesUrl: (value.SERVICES_PUBLIC_URL ?? "").replace(/\/+$/, ""),
    operatorTokens: value.GATEWAY_OPERATOR_TOKENS,
    rates: {
      key: { perSecond: value.GATEWAY_RATE_PER_SECOND, burst: value.GATEWAY_RATE_BURST },
      platform: {
        perSecond: value.GATEWAY_PLATFORM_RATE_PER_SECOND ?? 2 * value.GATEWAY_RATE_PER_SECOND,
        burst: value.GATEWAY_PLATFORM_RATE_BURST ?? 2 * value.GATEWAY_RATE_BURST,
      },
    },
    bodyLimitBytes: value.GATEWAY_BODY_LIMIT_BYTES,
    timeouts: {
      headersMs: value.GATEWAY_HEADERS_TIMEOUT_SEC * 1000,
      requestMs: value.GATEWAY_REQUEST_TIMEOUT_SEC * 1000,
      mostConnections: value.GATEWAY_MAX_CONNECTIONS,
    },
    keyCacheMs: value.GATEWAY_KEY_CACHE_SEC * 1000,
    guesses: {
      perMinute: value.GATEWAY_GUESSES_PER_MINUTE,
      trustedProxies: value.GATEWAY_TRUSTED_PROXIES,
    },
    forwardTimeoutMs: value.GATEWAY_FORWARD_TIMEOUT_SEC * 1000,
    proxyRules: value.GATEWAY_PROXY_RULES,
    targets: {
      orchestrator: value.ORCHESTRATOR_URL,
      ...(value.WORKER_URL === undefined ? {} : { worker: value.WORKER_URL }),
    } as Readonly<Record<string, string>>,
    serviceToken: value.DAG_SERVICE_TOKEN,
    tracing: toTracingSettings(value, "gateway"),
    logLevel: value.LOG_LEVEL,
    logFormat: value.LOG_FORMAT,
  };
}
