import type { Caller } from "../adapters/http/handler.ts";
import type { Clock } from "../adapters/runtime/clock.ts";
import { Problem } from "../core/errors.ts";
import type { Bucket, Rate } from "../core/gateway/token-bucket.ts";
import { takeTokens } from "../core/gateway/token-bucket.ts";

/** A bucket that nobody used for so long is full again in any case. */
const mostBuckets = 10_000;

export interface RateLimiter {
  /** Throws a Problem that says when to come again. */
  take(caller: Caller, cost?: number): void;
}

/** One bucket a key: a partner that sends too much slows itself down and nobody else. */
export function createRateLimiter(rate: Rate, clock: Clock): RateLimiter {
  const buckets = new Map<string, Bucket>();
  return {
    take(caller, cost = 1) {
      const taken = takeTokens(buckets.get(caller.name), rate, clock.now().getTime(), cost);
      // Put at the end of the map's order, so that its first entry is the one longest unused.
      buckets.delete(caller.name);
      buckets.set(caller.name, taken.bucket);
      if (buckets.size > mostBuckets) buckets.delete(buckets.keys().next().value ?? "");
      if (taken.allowed) return;
      const { retryAfterSeconds } = taken;
      throw new Problem(
        "TOO_MANY_REQUESTS",
        `This key may send ${rate.perSecond} requests a second. Try again in ${retryAfterSeconds} s.`,
        [],
        { retryAfterSeconds },
      );
    },
  };
}
