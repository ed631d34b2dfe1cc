/**
 * Sends spans to Azure Monitor (Application Insights). Its own exporter is a beta of years whose newest
 * releases need Node 22, and it brings metrics and logs along; what it sends for a span is this: served
 * requests and tasks as requests, all else as dependencies.
 */
import { hostname } from "node:os";
import type { HrTime } from "@opentelemetry/api";
import { SpanKind, SpanStatusCode } from "@opentelemetry/api";
import type { ReadableSpan, SpanExporter } from "@opentelemetry/sdk-trace";
import { version } from "../runtime/version.ts";
import type { AzureMonitorSettings } from "./settings.ts";

const timeoutMs = 10_000;
type Code = Parameters<Parameters<SpanExporter["export"]>[1]>[0]["code"];
/** Of OpenTelemetry's `ExportResultCode`, whose package is needed for nothing else. */
const [succeeded, failed] = [0, 1] as unknown as readonly [Code, Code];

export function createAzureMonitorExporter(settings: AzureMonitorSettings): SpanExporter {
  const url = `${settings.ingestionUrl}/v2.1/track`;
  const sending = new Set<Promise<void>>();

  async function send(spans: readonly ReadableSpan[]): Promise<void> {
    const answer = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(spans.map((span) => toEnvelope(settings.instrumentationKey, span))),
      signal: AbortSignal.timeout(timeoutMs),
      redirect: "error",
    });
    const text = await answer.text();
    // 206: it has taken some of them.
    if (answer.status !== 200) {
      throw new Error(`Azure Monitor answered ${answer.status}: ${text.slice(0, 300)}`);
    }
  }

  return {
    export(spans, done) {
      const sent = send(spans).then(
        () => {
          done({ code: succeeded });
        },
        (error: unknown) => {
          done({ code: failed, error: error instanceof Error ? error : new Error(String(error)) });
        },
      );
      sending.add(sent);
      void sent.finally(() => sending.delete(sent));
    },
    forceFlush: async () => {
      await Promise.all(sending);
    },
    shutdown: async () => {
      await Promise.all(sending);
    },
  };
}

function toEnvelope(iKey: string, span: ReadableSpan) {
  const { name, kind, attributes, parentSpanContext, resource, startTime, status } = span;
  const { traceId, spanId } = span.spanContext();
  const isRequest = kind === SpanKind.SERVER || kind === SpanKind.CONSUMER;
  const code = attributes["http.response.status_code"];
  const common = {
    ver: 2,
    id: spanId,
    name,
    duration: toDuration(span.duration),
    success: status.code !== SpanStatusCode.ERROR,
    properties: {
      ...Object.fromEntries(Object.entries(attributes).map(([key, value]) => [key, String(value)])),
      ...(status.message === undefined ? {} : { error: status.message }),
      ...(span.links.length === 0 ? {} : { "_MS.links": linksOf(span) }),
    },
  };
  return {
    ver: 1,
    name: `Microsoft.ApplicationInsights.${isRequest ? "Request" : "RemoteDependency"}`,
    time: new Date(toMs(startTime)).toISOString(),
    sampleRate: 100,
    iKey,
    tags: {
      "ai.operation.id": traceId,
      ...(parentSpanContext && { "ai.operation.parentId": parentSpanContext.spanId }),
      ...(isRequest ? { "ai.operation.name": name } : {}),
      "ai.cloud.role": String(resource.attributes["service.name"]),
      "ai.cloud.roleInstance": hostname(),
      "ai.internal.sdkVersion": `rmhdag:${version}`,
    },
    data: isRequest
      ? {
          baseType: "RequestData",
          baseData: { ...common, responseCode: String(code ?? (common.success ? 0 : 1)) },
        }
      : {
          baseType: "RemoteDependencyData",
          baseData: {
            ...common,
            type: kind === SpanKind.CLIENT ? "HTTP" : "InProc",
            target: String(attributes["server.address"] ?? ""),
            resultCode: String(code ?? (common.success ? 0 : 1)),
          },
        },
  };
}

function linksOf({ links }: ReadableSpan): string {
  return JSON.stringify(
    links.map(({ context }) => ({ operation_Id: context.traceId, id: context.spanId })),
  );
}

function toMs([seconds, nanoseconds]: HrTime): number {
  return seconds * 1000 + nanoseconds / 1e6;
}

/** As .NET writes a time span: days.hours:minutes:seconds.milliseconds. */
function toDuration(time: HrTime): string {
  const ms = toMs(time);
  const two = (value: number) => String(Math.floor(value)).padStart(2, "0");
  const clock = `${two((ms / 3_600_000) % 24)}:${two((ms / 60_000) % 60)}:${two((ms / 1000) % 60)}`;
  return `${Math.floor(ms / 86_400_000)}.${clock}.${String(Math.floor(ms % 1000)).padStart(3, "0")}`;
}
