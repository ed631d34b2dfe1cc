import type { Lookup, Network } from "../../adapters/net/check-address.ts";
import type { Sent } from "../../adapters/net/send-partner-callback.ts";
import { sendPartnerCallback } from "../../adapters/net/send-partner-callback.ts";
import type { Database } from "../../adapters/postgres/database.ts";
import type { TakenDelivery } from "../../adapters/postgres/repositories/deliveries.ts";
import {
  nextDueMs,
  recordAttempt,
  recordHost,
  takeDeliveries,
} from "../../adapters/postgres/repositories/deliveries.ts";
import type { Clock } from "../../adapters/runtime/clock.ts";
import { version } from "../../adapters/runtime/version.ts";
import type { Span, Tracer } from "../../adapters/tracing/tracer.ts";
import { callbackProblem } from "../../core/domain/partner-callbacks.ts";
import { nextDelaySeconds, openSeconds } from "../../core/domain/partner-callbacks.ts";
import type { CallbackSettings } from "./check-callback-url.ts";
import { signCallback } from "./sign-callback.ts";

export interface DeliveryDeps extends CallbackSettings {
  readonly db: Database;
  readonly clock: Clock;
  readonly privateNetworks: readonly Network[];
  readonly timeoutMs?: number;
  readonly lookup?: Lookup;
  readonly tracer?: Tracer | undefined;
}

/** Callbacks that are sent at once: each waits for a server of a partner. */
const batchSize = 16;

/**
 * Sends the callbacks that are due, and answers in how many milliseconds the next one is. Delivery is
 * at least once: if the process dies after a partner accepted and before that is recorded, the same
 * event is sent again with the same event id.
 */
export async function deliverCallbacks(deps: DeliveryDeps): Promise<number | undefined> {
  const { signingKey } = deps;
  if (signingKey === undefined) return undefined;
  const taken = await takeDeliveries(deps.db, batchSize);
  await Promise.all(taken.map((delivery) => deliver(deps, signingKey, delivery)));
  if (taken.length === batchSize) return 0;
  return (await nextDueMs(deps.db)) ?? undefined;
}

async function deliver(
  deps: DeliveryDeps,
  signingKey: string,
  delivery: TakenDelivery,
): Promise<void> {
  const started = deps.clock.now().getTime();
  const span = startSpan(deps.tracer, delivery);
  const sent = await send(deps, signingKey, delivery, span?.context ?? delivery.trace_parent);
  if (sent.status_code !== null) span?.set({ "http.response.status_code": sent.status_code });
  span?.end({ error: sent.error ?? undefined });
  const duration_ms = Math.max(0, deps.clock.now().getTime() - started);
  await deps.db.transaction(async (tx) => {
    const retry_seconds = nextDelaySeconds(delivery.attempts) ?? null;
    recordAttempt(tx, delivery, { ...sent, duration_ms, retry_seconds });
    await recordHost(tx, delivery.host, sent.error === null, openSeconds);
  });
}

/** Below the span of the job, if it is traced. */
function startSpan(tracer: Tracer | undefined, delivery: TakenDelivery): Span | undefined {
  if (delivery.trace_parent === null) return undefined;
  return tracer?.start(`callback ${delivery.event_type}`, {
    kind: "client",
    parent: delivery.trace_parent,
    attributes: {
      "http.request.method": "POST",
      "server.address": delivery.host,
      "rmhdag.event_id": delivery.event_id,
      "rmhdag.attempt": delivery.attempts,
    },
  });
}

async function send(
  deps: DeliveryDeps,
  signingKey: string,
  delivery: TakenDelivery,
  traceParent: string | null,
): Promise<Sent> {
  const url = new URL(delivery.url);
  // Checked again: the list of hosts may have changed since the request was accepted.
  const problem = callbackProblem(url, delivery.platform?.callback_hosts ?? deps.jobHosts);
  if (problem !== undefined) return { status_code: null, error: problem };
  if (delivery.callback_name !== null && delivery.platform?.address == null) {
    return { status_code: null, error: `the address "${delivery.callback_name}" is gone` };
  }
  const { privateNetworks, timeoutMs, lookup } = deps;
  const headers = {
    ...headersOf(deps.clock, signingKey, delivery),
    ...(traceParent === null ? {} : { traceparent: traceParent }),
  };
  return sendPartnerCallback(url, delivery.body, headers, {
    privateNetworks,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(lookup === undefined ? {} : { lookup }),
  });
}

function headersOf(
  clock: Clock,
  signingKey: string,
  { event_id, event_type, body, platform }: TakenDelivery,
): Record<string, string> {
  const unixSeconds = Math.floor(clock.now().getTime() / 1000);
  return {
    "content-type": "application/json",
    "user-agent": `rmhdagmaster/${version}`,
    "x-rmhdag-event-id": event_id,
    "x-rmhdag-event-type": event_type,
    "x-rmhdag-signature": signCallback(signingKey, platform, unixSeconds, body),
  };
}
