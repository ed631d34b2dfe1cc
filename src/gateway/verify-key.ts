/**
 * Finds the partner of an API key. The database knows keys by their hash; its answers are cached for
 * `cacheMs`, so that a busy partner costs one query a second and a revoked key stops working after
 * one.
 */
import { hash, timingSafeEqual } from "node:crypto";
import { LRUCache } from "lru-cache";
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
  // With the times in the values: `cacheMs` may be 0, which the cache's own `ttl` takes for "for ever".
  const cache = new LRUCache<string, { readonly until: number; readonly found: Promise<Found> }>({
    max: mostCached,
  });

  function findKey(digest: string): Promise<Found> {
    const now = clock.now().getTime();
    const cached = cache.get(digest);
    if (cached !== undefined && cached.until > now) return cached.found;
    const found = findKeyByHash(db, digest);
    cache.set(digest, { until: now + cacheMs, found });
    // Unknown keys and failed queries are not cached, so that a new key works at once.
    const forget = (): void => {
      if (cache.peek(digest)?.found === found) cache.delete(digest);
    };
    found.then((facts) => {
      if (facts === undefined) forget();
    }, forget);
    return found;
  }

  return async (key) => {
    const digest = hash("sha256", key);
    const facts = await findKey(digest);
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
