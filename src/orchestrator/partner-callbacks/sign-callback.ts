/**
 * How a callback to a partner is signed: HMAC-SHA256 over `<unix seconds>.<body>`, sent as
 * `x-rmhdag-signature: t=<unix seconds>,v1=<hex>`. The key of the HMAC is the secret of the platform,
 * the one of the
 * address if it is one of the platform's further addresses, or one secret for all jobs that were
 * submitted without a platform.
 *
 * Secrets are derived from CALLBACK_SIGNING_KEY and never stored, so a reader of the database, such
 * as the gateway, cannot sign.
 */
import { createHmac } from "node:crypto";
import type { DeliveryPlatform } from "../../adapters/postgres/repositories/deliveries.ts";

export function platformSecret(signingKey: string, platformId: string, number: number): string {
  return deriveSecret(signingKey, `callback|${platformId}|${number}`);
}

/** Never equal to the secret of a platform: a name starts with a letter, where that has a number. */
export function addressSecret(
  signingKey: string,
  platformId: string,
  name: string,
  number: number,
): string {
  return deriveSecret(signingKey, `callback|${platformId}|${name}|${number}`);
}

/** Never equal to the secret of a platform: the text for a platform always contains `|`. */
export function jobSecret(signingKey: string): string {
  return deriveSecret(signingKey, "job callback");
}

function deriveSecret(signingKey: string, purpose: string): string {
  return `whsec_${createHmac("sha256", signingKey).update(purpose).digest("base64url")}`;
}

/**
 * The value of the signature header. The time is signed too, so that a partner can refuse a message
 * that is repeated later. `platform` is null for a job without a platform.
 */
export function signCallback(
  signingKey: string,
  platform: DeliveryPlatform | null,
  unixSeconds: number,
  body: string,
): string {
  const signatures = secretsOf(signingKey, platform).map((secret) =>
    createHmac("sha256", secret).update(`${unixSeconds}.${body}`).digest("hex"),
  );
  return [`t=${unixSeconds}`, ...signatures.map((each) => `v1=${each}`)].join(",");
}

/** The secret of today and, for a day after a rotation, the previous one. */
function secretsOf(signingKey: string, platform: DeliveryPlatform | null): string[] {
  if (platform === null) return [jobSecret(signingKey)];
  const { platform_id, address } = platform;
  const { secret_number, secret_is_new } = address ?? platform;
  const numbers = secret_is_new ? [secret_number, secret_number - 1] : [secret_number];
  return numbers.map((number) =>
    address === null
      ? platformSecret(signingKey, platform_id, number)
      : addressSecret(signingKey, platform_id, address.name, number),
  );
}
