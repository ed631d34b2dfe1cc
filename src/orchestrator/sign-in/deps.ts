import { createHash, randomBytes } from "node:crypto";
import type { Caller } from "../../adapters/http/handler.ts";
import type { ServiceToken } from "../../adapters/http/tokens.ts";
import { isExpired } from "../../adapters/http/tokens.ts";
import type { Database } from "../../adapters/postgres/database.ts";
import type { SessionRules } from "../../adapters/postgres/queries/sign-in.ts";
import type { Clock } from "../../adapters/runtime/clock.ts";
import type { Access } from "../../core/api/contract.ts";
import { includesAccess } from "../../core/api/contract.ts";
import { Problem } from "../../core/errors.ts";

export interface SignInDeps {
  readonly db: Database;
  readonly clock: Clock;
  /** Tokens of the configuration. */
  readonly tokens: readonly ServiceToken[];
  readonly limits: SignInLimits;
}

export interface SignInLimits {
  /** A login code can be used for so long. */
  readonly codeSeconds: number;
  /** A session ends after so long without a request. */
  readonly idleSeconds: number;
  /** A session ends after so long in any case. */
  readonly sessionSeconds: number;
}

export function rulesOf({ tokens, clock, limits }: SignInDeps): SessionRules {
  return {
    idleSeconds: limits.idleSeconds,
    configured: tokens.filter((token) => !isExpired(token, clock)).map(({ sha256 }) => sha256),
  };
}

export function hashSecret(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

export function makeSecret(): string {
  return randomBytes(32).toString("base64url");
}

/** Throws for rights that the caller does not have, and so cannot pass on. */
export function refuseMore(caller: Caller, wanted: readonly Access[]): void {
  const missing = wanted.filter((access) => !includesAccess(caller.access, access));
  if (missing.length === 0) return;
  throw new Problem(
    "FORBIDDEN",
    `${caller.name} does not have "${missing.join('", "')}" access, and cannot pass it on.`,
  );
}

export function requireCaller(caller: Caller | undefined): Caller {
  if (caller === undefined) throw new Problem("UNAUTHENTICATED", "Send a token.");
  return caller;
}
