import { LRUCache } from "lru-cache";
import type { Caller } from "../adapters/http/handler.ts";
import type { Clock } from "../adapters/runtime/clock.ts";
import { Problem } from "../core/errors.ts";
import type { Bucket, Rate } from "../core/gateway/token-bucket.ts";
import { takeTokens } from "../core/gateway/token-bucket.ts";

/** A bucket that leaves the cache counts as full; the least recently used one is full anyway. */
const mostBuckets = 10_000;

export interface Buckets {
  /** Throws a Problem when the bucket is empty. `message` gets the seconds until it is not. */
  take(key: string, cost: number, message: (retryAfterSeconds: number) => string): void;
  giveBack(key: string, cost?: number): void;
}

/** One token bucket a key. */
export function createBuckets(rate: Rate, clock: Clock): Buckets {
  const buckets = new LRUCache<string, Bucket>({ max: mostBuckets });
  return {
    take(key, cost, message) {
      const taken = takeTokens(buckets.get(key), rate, clock.now().getTime(), cost);
      buckets.set(key, taken.bucket);
      if (taken.allowed) return;
      const { retryAfterSeconds } = taken;
      throw new Problem("TOO_MANY_REQUESTS", message(retryAfterSeconds), [], {
        retryAfterSeconds,
      });
    },
    giveBack(key, cost = 1) {
      const bucket = buckets.get(key);
      if (bucket !== undefined) buckets.set(key, { ...bucket, tokens: bucket.tokens + cost });
    },
  };
}

export interface RateLimiter {
  take(caller: Caller, cost?: number): void;
}

export interface Rates {
  readonly key: Rate;
  /** All keys of a platform together: a partner gains nothing by more keys. */
  readonly platform: Rate;
}

/** One bucket an API key and one a platform: a partner that sends too much slows down only itself. */
export function createRateLimiter(rates: Rates, clock: Clock): RateLimiter {
  const keys = createBuckets(rates.key, clock);
  const platforms = createBuckets(rates.platform, clock);
  const refuse =
    (who: string, { perSecond }: Rate) =>
    (seconds: number) =>
      `${who} may send ${perSecond} requests a second. Try again in ${seconds} s.`;
  return {
    take: ({ name, platformId }, cost = 1) => {
      keys.take(name, cost, refuse("This key", rates.key));
      if (platformId === undefined) return;
      try {
        platforms.take(platformId, cost, refuse("All keys of your platform", rates.platform));
      } catch (error) {
        keys.giveBack(name, cost);
        throw error;
      }
    },
  };
}
