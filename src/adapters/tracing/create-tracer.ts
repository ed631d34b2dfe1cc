/** Spans by OpenTelemetry's SDK: sampled, collected in batches, and sent by OTLP or to Azure Monitor. */
import type { SpanContext } from "@opentelemetry/api";
import {
  diag,
  DiagLogLevel,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
} from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { defaultResource, resourceFromAttributes } from "@opentelemetry/resources";
import type { IdGenerator, Sampler, SpanExporter } from "@opentelemetry/sdk-trace";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  RandomIdGenerator,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { formatTraceParent, parseTraceParent } from "../../core/trace/trace-parent.ts";
import type { Logger } from "../runtime/logger.ts";
import { version } from "../runtime/version.ts";
import { createAzureMonitorExporter } from "./azure-monitor.ts";
import type { TracingSettings } from "./settings.ts";
import type { Span, Tracer } from "./tracer.ts";

const kinds = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
};

/** A collector that is away costs its spans, a warning, and nothing else. */
export function createTracer(settings: TracingSettings, log: Logger): Tracer {
  const warn = (message: string, ...more: unknown[]) => {
    log.warn({ detail: more.map(String) }, `traces: ${message}`);
  };
  const ignore = () => undefined;
  diag.setLogger(
    { error: warn, warn, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  const ids = new Ids();
  const provider = new TracerProvider({
    idGenerator: ids,
    resource: resourceOf(settings),
    sampler: samplerOf(settings),
    spanLimits: { attributeValueLengthLimit: 4096 },
    spanProcessors: exportersOf(settings).map(
      (exporter) => new BatchSpanProcessor({ exporter, ...settings.batch }),
    ),
  });
  const tracer = provider.getTracer("rmhdag", version);
  // Not the clock's changes between the start and the end of a span.
  const now = () => performance.timeOrigin + performance.now();

  return {
    now,
    start(name, options = {}) {
      const { kind = "internal", parent, attributes = {}, links = [], startedAt, spanId } = options;
      const above = toSpanContext(parent);
      ids.next = spanId;
      const span = tracer.startSpan(
        name,
        {
          kind: kinds[kind],
          attributes,
          links: links.flatMap((link) => {
            const context = toSpanContext(link);
            return context === undefined ? [] : [{ context }];
          }),
          startTime: startedAt ?? now(),
        },
        above === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, above),
      );
      const { traceId, spanId: id, traceFlags } = span.spanContext();
      const sampled = (traceFlags & TraceFlags.SAMPLED) !== 0;
      return {
        sampled,
        context: formatTraceParent({ traceId, spanId: id, sampled }),
        set: (more) => {
          span.setAttributes(more);
        },
        end: ({ error, endedAt } = {}) => {
          if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: error });
          span.end(endedAt ?? now());
        },
      } satisfies Span;
    },
    close: () => provider.shutdown(),
  };
}

/** Takes the id of the next span from its caller, where the span already has one. */
class Ids implements IdGenerator {
  next: string | undefined;
  private readonly random = new RandomIdGenerator();

  generateTraceId(): string {
    return this.random.generateTraceId();
  }

  generateSpanId(): string {
    const id = this.next ?? this.random.generateSpanId();
    this.next = undefined;
    return id;
  }
}

function toSpanContext(text: string | null | undefined): SpanContext | undefined {
  const parent = parseTraceParent(text);
  return (
    parent && {
      traceId: parent.traceId,
      spanId: parent.spanId,
      traceFlags: parent.sampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
      isRemote: true,
    }
  );
}

function samplerOf({ sampler, ratio }: TracingSettings): Sampler {
  switch (sampler) {
    case "always_on":
      return new AlwaysOnSampler();
    case "always_off":
      return new AlwaysOffSampler();
    case "traceidratio":
      return new TraceIdRatioBasedSampler(ratio);
    case "parentbased_always_on":
      return new ParentBasedSampler({ root: new AlwaysOnSampler() });
    case "parentbased_always_off":
      return new ParentBasedSampler({ root: new AlwaysOffSampler() });
    case "parentbased_traceidratio":
      return new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) });
  }
}

function exportersOf({ otlpUrl, azureMonitor }: TracingSettings): SpanExporter[] {
  return [
    ...(otlpUrl === undefined ? [] : [new OTLPTraceExporter({ url: otlpUrl })]),
    ...(azureMonitor === undefined ? [] : [createAzureMonitorExporter(azureMonitor)]),
  ];
}

function resourceOf({ serviceName, resource }: TracingSettings) {
  return defaultResource().merge(
    resourceFromAttributes({
      "process.pid": process.pid,
      "service.version": version,
      ...resource,
      "service.name": serviceName,
    }),
  );
}
