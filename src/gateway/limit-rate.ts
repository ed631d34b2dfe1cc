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
  giveBack(key: string): void;
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
    giveBack(key) {
      const bucket = buckets.get(key);
      if (bucket !== undefined) buckets.set(key, { ...bucket, tokens: bucket.tokens + 1 });
    },
  };
}

export interface RateLimiter {
  take(caller: Caller, cost?: number): void;
}

/** One bucket an API key: a partner that sends too much slows down only itself. */
export function createRateLimiter(rate: Rate, clock: Clock): RateLimiter {
  const buckets = createBuckets(rate, clock);
  return {
    take: ({ name }, cost = 1) => {
      buckets.take(
        name,
        cost,
        (seconds) =>
          `This key may send ${rate.perSecond} requests a second. Try again in ${seconds} s.`,
      );
    },
  };
}
