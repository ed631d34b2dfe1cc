/**
 * From a key to its partner. The database knows keys by their hash; what it said is believed for a
 * second, so that a busy partner costs one lookup a second and a revoked key is dead after one.
 */
import { hash, timingSafeEqual } from "node:crypto";
import type { Caller } from "../adapters/http/handler.ts";
import type { Queryable } from "../adapters/postgres/queryable.ts";
import type { KeyFacts } from "../adapters/postgres/queries/gateway-keys.ts";
import { findKeyByHash } from "../adapters/postgres/queries/gateway-keys.ts";
import type { Clock } from "../adapters/runtime/clock.ts";
import type { Access } from "../core/api/contract.ts";

export interface KeyVerifierOptions {
  readonly db: Queryable;
  readonly clock: Clock;
  readonly cacheMs: number;
}

const mostCached = 10_000;

export function createKeyVerifier(
  options: KeyVerifierOptions,
): (key: string) => Promise<Caller | undefined> {
  const { db, clock, cacheMs } = options;
  const cache = new Map<string, { readonly until: number; readonly found: Promise<Found> }>();

  function look(digest: string): Promise<Found> {
    const now = clock.now().getTime();
    const cached = cache.get(digest);
    if (cached !== undefined && cached.until > now) return cached.found;
    const found = findKeyByHash(db, digest);
    cache.delete(digest);
    if (cache.size >= mostCached) cache.delete(cache.keys().next().value ?? "");
    cache.set(digest, { until: now + cacheMs, found });
    // Only what exists is remembered: a new key works at once, a failure is no answer.
    const forget = (): void => {
      if (cache.get(digest)?.found === found) cache.delete(digest);
    };
    found.then((facts) => {
      if (facts === undefined) forget();
    }, forget);
    return found;
  }

  return async (key) => {
    const digest = hash("sha256", key);
    const facts = await look(digest);
    if (facts?.is_usable !== true) return undefined;
    if (!timingSafeEqual(Buffer.from(facts.key_hash), Buffer.from(digest))) return undefined;
    return {
      name: `${facts.platform_id}/${facts.key_id}`,
      access: accessOf(facts.scopes),
      platformId: facts.platform_id,
    };
  };
}

type Found = KeyFacts | undefined;

const scopes: Readonly<Record<string, readonly Access[]>> = {
  read: ["read"],
  submit: ["submit"],
  curate: ["curate"],
  admin: ["read", "submit", "curate", "admin"],
};

function accessOf(given: readonly string[]): Access[] {
  const granted = given.flatMap((scope) => (Object.hasOwn(scopes, scope) ? scopes[scope] : []));
  return [...new Set(granted)].filter((each) => each !== undefined);
}
