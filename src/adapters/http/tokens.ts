import { createHash, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import type { Access } from "../../core/api/contract.ts";
import { access } from "../../core/api/contract.ts";
import type { AccessPolicy } from "./access.ts";
import type { Caller } from "./handler.ts";
import type { TrustedProxy } from "./trusted-proxy.ts";

export interface ServiceToken {
  readonly name: string;
  /** The hash of the token in hex; the token itself is not stored. */
  readonly sha256: string;
  readonly access: readonly Access[];
}

/** `name:access+access:sha256`, such as `worker:service:9f86d0…`. */
export const serviceToken = z
  .string()
  .regex(/^[\w.-]+:[a-z+]+:[0-9a-f]{64}$/, "must be name:access+access:sha256 in hex")
  .transform((text, context): ServiceToken => {
    const [name = "", granted = "", sha256 = ""] = text.split(":");
    const parsed = z.array(access).safeParse(granted.split("+"));
    if (parsed.success) return { name, sha256, access: parsed.data };
    context.addIssue(`${name}: access is one or more of ${access.options.join(", ")}, joined by +`);
    return z.NEVER;
  });

export function hashToken(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

export function createAccessPolicy(
  tokens: readonly ServiceToken[],
  options: { openOnLoopback?: boolean; proxy?: TrustedProxy | undefined } = {},
): AccessPolicy {
  const known = tokens.map(({ name, sha256, access }) => {
    const digest = Buffer.from(sha256, "hex");
    if (digest.length !== 32 || !/^[0-9a-f]{64}$/i.test(sha256)) {
      throw new Error(`The token of ${name} must be given as its SHA-256 in 64 hex digits.`);
    }
    return { digest, caller: { name, access } };
  });
  return {
    hasTokens: known.length > 0 || options.proxy !== undefined,
    openOnLoopback: options.openOnLoopback ?? false,
    proxy: options.proxy,
    authenticate: (token) => {
      const digest = createHash("sha256").update(token).digest();
      // All are compared, so that the time does not reveal which one came close.
      let found: Caller | undefined;
      for (const each of known) if (timingSafeEqual(each.digest, digest)) found = each.caller;
      return found;
    },
  };
}
