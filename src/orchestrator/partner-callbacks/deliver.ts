import { createHmac } from "node:crypto";
import type { Network } from "../../adapters/net/check-address.ts";
import type { Sent } from "../../adapters/callbacks/send-callback.ts";
import { sendCallback } from "../../adapters/callbacks/send-callback.ts";
import type { Lookup } from "../../adapters/net/find-address.ts";
import type { Database } from "../../adapters/postgres/database.ts";
import type {
  DeliveryPlatform,
  TakenDelivery,
} from "../../adapters/postgres/repositories/deliveries.ts";
import {
  nextDueMs,
  recordAttempt,
  recordHost,
  takeDeliveries,
} from "../../adapters/postgres/repositories/deliveries.ts";
import type { Clock } from "../../adapters/runtime/clock.ts";
import { version } from "../../adapters/runtime/version.ts";
import {
  callbackProblem,
  nextDelaySeconds,
  openSeconds,
  signatureHeader,
  signedText,
} from "../../core/domain/partner-callbacks.ts";
import { callbackSecret, jobSecret } from "./secret.ts";

export interface DeliveryDeps {
  readonly db: Database;
  readonly clock: Clock;
  /** Without it nothing can be signed, so nothing is sent. */
  readonly signingKey: string | undefined;
  /** The hosts for jobs that no platform asked for. */
  readonly jobHosts: readonly string[];
  readonly privateNetworks: readonly Network[];
  readonly timeoutMs?: number;
  readonly lookup?: Lookup;
}

/** So many at once: each waits for a stranger. */
const batchSize = 16;

/**
 * Sends what is due, and answers in how many milliseconds there is more to do. At least once: a
 * process that dies between the answer and its record sends the same event again, by its id.
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
  const sent = await send(deps, signingKey, delivery);
  const duration_ms = Math.max(0, deps.clock.now().getTime() - started);
  await deps.db.transaction(async (tx) => {
    const retry_seconds = nextDelaySeconds(delivery.attempts) ?? null;
    recordAttempt(tx, delivery, { ...sent, duration_ms, retry_seconds });
    await recordHost(tx, delivery.host, sent.error === null, openSeconds);
  });
}

async function send(
  deps: DeliveryDeps,
  signingKey: string,
  delivery: TakenDelivery,
): Promise<Sent> {
  const url = new URL(delivery.url);
  // Asked again: the list may have changed since the request was taken.
  const problem = callbackProblem(url, delivery.platform?.callback_hosts ?? deps.jobHosts);
  if (problem !== undefined) return { status_code: null, error: problem };
  const { privateNetworks, timeoutMs, lookup } = deps;
  return sendCallback(url, delivery.body, headersOf(deps.clock, signingKey, delivery), {
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
  const timestamp = Math.floor(clock.now().getTime() / 1000);
  const signatures = secretsOf(signingKey, platform).map((secret) =>
    createHmac("sha256", secret).update(signedText(timestamp, body)).digest("hex"),
  );
  return {
    "content-type": "application/json",
    "user-agent": `rmhdagmaster/${version}`,
    "x-rmhdag-event-id": event_id,
    "x-rmhdag-event-type": event_type,
    "x-rmhdag-signature": signatureHeader(timestamp, signatures),
  };
}

/** Two while a platform changes its secret. */
function secretsOf(signingKey: string, platform: DeliveryPlatform | null): string[] {
  if (platform === null) return [jobSecret(signingKey)];
  const { platform_id, secret_number, secret_is_new } = platform;
  const numbers = secret_is_new ? [secret_number, secret_number - 1] : [secret_number];
  return numbers.map((number) => callbackSecret(signingKey, platform_id, number));
}
