/** The variables of traces: those of OpenTelemetry's specification, and Azure Monitor's. */
import { z } from "zod";
import { list } from "../runtime/environment.ts";

const samplers = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;

const httpUrl = z.url({ protocol: /^https?$/ });
const count = z.coerce.number().int().positive();

/** The exporter reads the others itself, such as OTEL_EXPORTER_OTLP_HEADERS and their certificates. */
export const tracingEnvironment = {
  OTEL_SDK_DISABLED: z
    .string()
    .transform((text) => text.toLowerCase() === "true")
    .default(false),
  OTEL_TRACES_EXPORTER: list.pipe(z.array(z.enum(["otlp", "none"]))).optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl.optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: httpUrl.optional(),
  OTEL_EXPORTER_OTLP_PROTOCOL: z.literal("http/protobuf").optional(),
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: z.literal("http/protobuf").optional(),
  OTEL_SERVICE_NAME: z.string().optional(),
  OTEL_RESOURCE_ATTRIBUTES: list.default([]),
  OTEL_TRACES_SAMPLER: z.enum(samplers).default("parentbased_always_on"),
  OTEL_TRACES_SAMPLER_ARG: z.coerce.number().min(0).max(1).default(1),
  OTEL_BSP_SCHEDULE_DELAY: count.default(5000),
  OTEL_BSP_EXPORT_TIMEOUT: count.default(30_000),
  OTEL_BSP_MAX_QUEUE_SIZE: count.default(2048),
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: count.default(512),
  APPLICATIONINSIGHTS_CONNECTION_STRING: z
    .string()
    .transform((text, context) => {
      const found = readConnectionString(text);
      if (found !== undefined) return found;
      context.addIssue("must have an InstrumentationKey, and its IngestionEndpoint must be an URL");
      return z.NEVER;
    })
    .optional(),
};

type Environment = z.output<z.ZodObject<typeof tracingEnvironment>>;

export interface AzureMonitorSettings {
  readonly instrumentationKey: string;
  readonly ingestionUrl: string;
}

export interface TracingSettings {
  /** Where OTLP is sent; undefined: nowhere. */
  readonly otlpUrl: string | undefined;
  readonly azureMonitor: AzureMonitorSettings | undefined;
  readonly serviceName: string;
  readonly resource: Readonly<Record<string, string>>;
  readonly sampler: Environment["OTEL_TRACES_SAMPLER"];
  readonly ratio: number;
  readonly batch: {
    readonly scheduledDelayMillis: number;
    readonly exportTimeoutMillis: number;
    readonly maxQueueSize: number;
    readonly maxExportBatchSize: number;
  };
}

/** Undefined: the program makes no spans. */
export function toTracingSettings(env: Environment, program: string): TracingSettings | undefined {
  const base = env.OTEL_EXPORTER_OTLP_ENDPOINT?.replace(/\/+$/, "");
  const otlpUrl =
    env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ??
    (base === undefined ? undefined : `${base}/v1/traces`);
  const azureMonitor = env.APPLICATIONINSIGHTS_CONNECTION_STRING;
  const isOff = env.OTEL_SDK_DISABLED || env.OTEL_TRACES_EXPORTER?.includes("none") === true;
  if (isOff || (otlpUrl ?? azureMonitor) === undefined) return undefined;
  const resource = Object.fromEntries(env.OTEL_RESOURCE_ATTRIBUTES.flatMap(readAttribute));
  return {
    otlpUrl,
    azureMonitor,
    serviceName: env.OTEL_SERVICE_NAME ?? resource["service.name"] ?? `rmhdag-${program}`,
    resource,
    sampler: env.OTEL_TRACES_SAMPLER,
    ratio: env.OTEL_TRACES_SAMPLER_ARG,
    batch: {
      scheduledDelayMillis: env.OTEL_BSP_SCHEDULE_DELAY,
      exportTimeoutMillis: env.OTEL_BSP_EXPORT_TIMEOUT,
      maxQueueSize: env.OTEL_BSP_MAX_QUEUE_SIZE,
      maxExportBatchSize: Math.min(env.OTEL_BSP_MAX_EXPORT_BATCH_SIZE, env.OTEL_BSP_MAX_QUEUE_SIZE),
    },
  };
}

function readAttribute(text: string): [string, string][] {
  const [, name, value] = /^([^=]+)=(.*)$/.exec(text) ?? [];
  if (name === undefined || value === undefined) return [];
  try {
    return [[name.trim(), decodeURIComponent(value.trim())]];
  } catch {
    return [[name.trim(), value.trim()]];
  }
}

function readConnectionString(text: string): AzureMonitorSettings | undefined {
  const parts = new Map(
    text.split(";").map((part) => {
      const [name = "", ...value] = part.split("=");
      return [name.trim().toLowerCase(), value.join("=").trim()];
    }),
  );
  const instrumentationKey = parts.get("instrumentationkey");
  const suffix = parts.get("endpointsuffix");
  const ingestionUrl =
    parts.get("ingestionendpoint") ??
    `https://${suffix === undefined ? "dc.services.visualstudio.com" : `dc.${suffix}`}`;
  if (instrumentationKey === undefined || instrumentationKey === "") return undefined;
  if (!URL.canParse(ingestionUrl)) return undefined;
  return { instrumentationKey, ingestionUrl: ingestionUrl.replace(/\/+$/, "") };
}
