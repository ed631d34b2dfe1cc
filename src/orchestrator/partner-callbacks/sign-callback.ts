import { createHmac } from "node:crypto";
import { findPlatform } from "../../adapters/postgres/queries/platforms.ts";
import { rotateSecret } from "../../adapters/postgres/repositories/platforms.ts";
import { Problem } from "../../core/errors.ts";
import type { CallbackSettings, DomainDeps } from "../assets/deps.ts";

/**
 * A platform's secret is derived from the operator's key, the platform and a number, so that none
 * is stored: whoever reads the database, the gateway among them, can sign nothing.
 */
export function callbackSecret(signingKey: string, platformId: string, number: number): string {
  const mac = createHmac("sha256", signingKey).update(`callback|${platformId}|${number}`);
  return `whsec_${mac.digest("base64url")}`;
}

/** Of jobs that no platform asked for; no platform can be called so that it had the same. */
export function jobSecret(signingKey: string): string {
  return `whsec_${createHmac("sha256", signingKey).update("job callback").digest("base64url")}`;
}

export interface ShownSecret {
  readonly platform_id: string;
  readonly secret: string;
  readonly secret_number: number;
  readonly secret_changed_at: string | null;
}

export async function showCallbackSecret(
  { db, callbacks }: Pick<DomainDeps, "db" | "callbacks">,
  platformId: string,
  rotate: boolean,
): Promise<ShownSecret> {
  const signingKey = demandKey(callbacks);
  if (rotate) await rotateSecret(db, platformId);
  const platform = await findPlatform(db, platformId);
  if (platform === undefined) {
    throw new Problem("PLATFORM_NOT_FOUND", `There is no platform "${platformId}".`);
  }
  const { secret_number, secret_changed_at } = platform;
  const secret = callbackSecret(signingKey, platformId, secret_number);
  return { platform_id: platformId, secret, secret_number, secret_changed_at };
}

export function showJobSecret({ callbacks }: Pick<DomainDeps, "callbacks">): { secret: string } {
  return { secret: jobSecret(demandKey(callbacks)) };
}

function demandKey({ signingKey }: CallbackSettings): string {
  if (signingKey !== undefined) return signingKey;
  throw new Problem("SWITCHED_OFF", "Callbacks need CALLBACK_SIGNING_KEY in the configuration.");
}
