import type { Database } from "../../adapters/postgres/database.ts";
import { findPlatform } from "../../adapters/postgres/queries/platforms.ts";
import { rotateSecret } from "../../adapters/postgres/repositories/platforms.ts";
import { Problem } from "../../core/errors.ts";
import type { CallbackSettings } from "./check-callback-url.ts";
import { jobSecret, platformSecret } from "./sign-callback.ts";

export interface PlatformSecret {
  readonly platform_id: string;
  readonly secret: string;
  readonly secret_number: number;
  readonly secret_changed_at: string | null;
}

export async function showPlatformSecret(
  { db, callbacks }: { readonly db: Database; readonly callbacks: CallbackSettings },
  platformId: string,
  rotate: boolean,
): Promise<PlatformSecret> {
  const signingKey = requireSigningKey(callbacks);
  if (rotate) await rotateSecret(db, platformId);
  const platform = await findPlatform(db, platformId);
  if (platform === undefined) {
    throw new Problem("PLATFORM_NOT_FOUND", `There is no platform "${platformId}".`);
  }
  const { secret_number, secret_changed_at } = platform;
  const secret = platformSecret(signingKey, platformId, secret_number);
  return { platform_id: platformId, secret, secret_number, secret_changed_at };
}

export function showJobSecret(callbacks: CallbackSettings): { secret: string } {
  return { secret: jobSecret(requireSigningKey(callbacks)) };
}

export function requireSigningKey({ signingKey }: CallbackSettings): string {
  if (signingKey !== undefined) return signingKey;
  throw new Problem("SWITCHED_OFF", "Callbacks need CALLBACK_SIGNING_KEY in the configuration.");
}
