/** One span for each request, from its headers to its answer. */
import type { IncomingHttpHeaders } from "node:http";
import { parseTraceParent, traceIdOf } from "../../core/trace/trace-parent.ts";
import type { Span, Tracer } from "../tracing/tracer.ts";

/** The part of the library's request that is used here. */
interface TracedRequest {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
}

export interface RequestSpans {
  /** `route` is the contract's path, such as `/api/v1/jobs/{job_id}`. */
  start(request: TracedRequest, route: string): void;
  context(request: TracedRequest): string | undefined;
  /** Undefined where the sampler left the request out. */
  traceId(request: TracedRequest): string | undefined;
  /** Ends the span, and answers as `traceId`. */
  end(request: TracedRequest, status: number): string | undefined;
}

/** Probes, and the calls with which workers wait and renew: many, and all alike. */
const untraced = /^\/(?:livez|readyz|health|metrics|api\/health|api\/v1\/worker\/)/;

export function createRequestSpans(tracer: Tracer | undefined): RequestSpans | undefined {
  if (tracer === undefined) return undefined;
  const spans = new WeakMap<TracedRequest, Span>();
  const traceId = (request: TracedRequest) => {
    const span = spans.get(request);
    return span?.sampled === true ? (traceIdOf(span.context) ?? undefined) : undefined;
  };
  return {
    traceId,
    context: (request) => spans.get(request)?.context,
    start(request, route) {
      if (untraced.test(route)) return;
      const span = tracer.start(`${request.method} ${route}`, {
        kind: "server",
        parent: validTraceParent(request.headers["traceparent"]),
        attributes: { "http.request.method": request.method, "http.route": route },
      });
      spans.set(request, span);
    },
    end(request, status) {
      const span = spans.get(request);
      span?.set({ "http.response.status_code": status });
      span?.end(status >= 500 ? { error: `answered ${status}` } : {});
      return traceId(request);
    },
  };
}

export function validTraceParent(header: string | string[] | undefined): string | undefined {
  return typeof header === "string" && parseTraceParent(header) !== undefined ? header : undefined;
}
