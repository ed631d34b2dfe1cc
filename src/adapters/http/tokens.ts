import { createHash, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import type { Access } from "../../core/api/contract.ts";
import { access } from "../../core/api/contract.ts";
import type { Clock } from "../runtime/clock.ts";
import { systemClock } from "../runtime/clock.ts";
import type { AccessPolicy } from "./access.ts";
import type { Caller } from "./handler.ts";
import { createAddressSigner } from "./signed-address.ts";
import type { TrustedProxy } from "./trusted-proxy.ts";

export interface ServiceToken {
  readonly name: string;
  /** The hash of the token in hex; the token itself is not stored. */
  readonly sha256: string;
  readonly access: readonly Access[];
  /** From this moment on it is refused; absent: never. */
  readonly expiresAt?: Date;
}

/** `name:access+access:sha256`, such as `worker:service:9f86d0…`; `:2027-01-31` lets it expire then. */
export const serviceToken = z
  .string()
  .regex(
    /^[\w.-]+:[a-z+]+:[0-9a-f]{64}(?::\d{4}-\d\d-\d\d)?$/,
    "must be name:access+access:sha256 in hex, and :YYYY-MM-DD if it expires",
  )
  .transform((text, context): ServiceToken => {
    const [name = "", granted = "", sha256 = "", day] = text.split(":");
    const parsed = z.array(access).safeParse(granted.split("+"));
    const expiry =
      day === undefined ? undefined : z.iso.date().pipe(z.coerce.date()).safeParse(day);
    if (expiry?.success === false) {
      context.addIssue(`${name}: ${day ?? ""} is not a day`);
      return z.NEVER;
    }
    if (parsed.success) {
      return { name, sha256, access: parsed.data, ...(expiry && { expiresAt: expiry.data }) };
    }
    context.addIssue(`${name}: access is one or more of ${access.options.join(", ")}, joined by +`);
    return z.NEVER;
  });

export function hashToken(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

export interface PolicyOptions extends Pick<AccessPolicy, "findSession"> {
  readonly openOnLoopback?: boolean;
  readonly proxy?: TrustedProxy | undefined;
  /** Looks up a token that the configuration does not have. */
  readonly findToken?: (token: string) => Promise<Caller | undefined>;
  readonly clock?: Clock;
  /** The secret for signed addresses; without one there are none. */
  readonly signingKey?: string | undefined;
}

export function createAccessPolicy(
  tokens: readonly ServiceToken[],
  options: PolicyOptions = {},
): AccessPolicy {
  const { clock = systemClock, findToken, findSession, signingKey } = options;
  const known = tokens.map((token) => {
    const { name, sha256, access } = token;
    const digest = Buffer.from(sha256, "hex");
    if (digest.length !== 32 || !/^[0-9a-f]{64}$/i.test(sha256)) {
      throw new Error(`The token of ${name} must be given as its SHA-256 in 64 hex digits.`);
    }
    return { digest, token, caller: { name, access, tokenSha256: sha256.toLowerCase() } };
  });
  return {
    hasTokens: known.length > 0 || options.proxy !== undefined,
    openOnLoopback: options.openOnLoopback ?? false,
    proxy: options.proxy,
    ...(signingKey !== undefined && { signer: createAddressSigner(signingKey, clock) }),
    ...(findSession && { findSession }),
    authenticate: (text) => {
      const digest = createHash("sha256").update(text).digest();
      // All are compared, so that the time does not reveal which one came close.
      let found: (typeof known)[number] | undefined;
      for (const each of known) if (timingSafeEqual(each.digest, digest)) found = each;
      if (found === undefined) return findToken?.(text);
      return isExpired(found.token, clock) ? undefined : found.caller;
    },
  };
}

export function isExpired({ expiresAt }: Pick<ServiceToken, "expiresAt">, clock: Clock): boolean {
  return expiresAt !== undefined && expiresAt <= clock.now();
}
