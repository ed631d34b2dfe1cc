/**
 * Calls the orchestrator for a partner. A refusal of the orchestrator is passed to the partner as it
 * is; a failure between gateway and orchestrator is answered as UNAVAILABLE.
 */
import type { Durations } from "../adapters/http/metrics.ts";
import type { Logger } from "../adapters/runtime/logger.ts";
import type { Tracer } from "../adapters/tracing/tracer.ts";
import { ApiError } from "../core/api/api-error.ts";
import type { Client } from "../core/api/client.ts";
import { createClient } from "../core/api/client.ts";
import type { Fetch } from "../core/api/fetch.ts";
import { Problem } from "../core/errors.ts";
import { traceIdOf } from "../core/trace/trace-parent.ts";
import type { Target } from "./call-target.ts";
import { callTarget, TargetError } from "./call-target.ts";

/** Headers for the orchestrator, with the ids of the request and its trace, which both logs show. */
export interface ForwardedHeaders {
  readonly headers: Readonly<Record<string, string>>;
}

/** The part of a request that is forwarded. */
export interface ForwardedRequest {
  readonly requestId: string;
  readonly traceParent: string | undefined;
  header(name: string): string | undefined;
}

export interface Orchestrator {
  call<Result>(
    request: ForwardedRequest,
    work: (client: Client, forwarded: ForwardedHeaders) => Promise<Result>,
  ): Promise<Result>;
}

export function createOrchestrator(
  target: Target,
  options: {
    readonly timeoutMs: number;
    readonly log: Pick<Logger, "error" | "warn">;
    readonly tracer?: Tracer | undefined;
    readonly durations: Durations<"outcome">;
  },
): Orchestrator {
  const { timeoutMs, log, tracer, durations } = options;
  const fetch: Fetch = async (url, { method, headers, body }) => {
    const path = url.slice(target.url.length);
    const answer = await callTarget(target, { method, path, headers, body, timeoutMs });
    const text = answer.bytes.toString("utf8");
    return { status: answer.status, headers: answer.headers, body: null, text: async () => text };
  };
  const client = createClient({ baseUrl: target.url, fetch });

  return {
    async call(request, work) {
      const ifMatch = request.header("if-match");
      const span = tracer?.start(`call ${target.name}`, {
        kind: "client",
        parent: request.traceParent,
        attributes: { "server.address": new URL(target.url).host },
      });
      const headers = {
        "x-request-id": request.requestId,
        ...(ifMatch === undefined ? {} : { "if-match": ifMatch }),
        ...traceHeader(span?.context ?? request.traceParent),
      };
      let failure: string | undefined;
      let outcome = "answered";
      const since = performance.now();
      try {
        return await work(client, { headers });
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        const refusal = toProblem(error);
        outcome = refusal.status >= 500 ? "failed" : "refused";
        if (outcome === "failed") {
          failure = error.message;
          const trace_id = traceIdOf(span?.context) ?? undefined;
          const fields = { err: error, request_id: request.requestId, trace_id };
          log.warn(fields, "the orchestrator could not be called");
        }
        throw refusal;
      } finally {
        span?.end({ error: failure });
        durations.observe({ outcome }, (performance.now() - since) / 1000);
      }
    },
  };
}

export function traceHeader(context: string | undefined): Record<string, string> {
  return context === undefined ? {} : { traceparent: context };
}

/** Refusals that concern the gateway's own token, or a bug, and not the partner. */
const notForPartners: ReadonlySet<string> = new Set(["UNAUTHENTICATED", "FORBIDDEN", "INTERNAL"]);

function toProblem(error: ApiError): Problem {
  const { code, status, detail, items, cause } = error;
  if (code !== "UNREACHABLE" && status < 500 && !notForPartners.has(code)) {
    return new Problem(code, detail, items);
  }
  if (cause instanceof TargetError) return toUnavailable(cause);
  return new Problem("UNAVAILABLE", "The platform cannot do this now. Try again in a moment.");
}

function toUnavailable({ kind, message }: TargetError): Problem {
  const reason = `${message.charAt(0).toUpperCase()}${message.slice(1)}.`;
  const advice =
    kind === "refused"
      ? "Nothing was changed: try again in a moment."
      : "It may have been done all the same: look before you send it again, or send it with the " +
        "same idempotency key.";
  return new Problem("UNAVAILABLE", `${reason} ${advice}`);
}
