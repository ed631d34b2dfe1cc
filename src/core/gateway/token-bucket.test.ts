import { describe, expect, it } from "vitest";
import type { Bucket } from "./token-bucket.ts";
import { takeTokens } from "./token-bucket.ts";

const rate = { perSecond: 10, burst: 3 };

function takeMany(times: readonly number[], cost = 1): (true | number)[] {
  let bucket: Bucket | undefined;
  return times.map((now) => {
    const taken = takeTokens(bucket, rate, now, cost);
    bucket = taken.bucket;
    return taken.allowed ? true : taken.retryAfterSeconds;
  });
}

describe("a token bucket", () => {
  it("gives a burst at once and then keeps to the rate", () => {
    expect(takeMany([0, 0, 0, 0, 50, 100, 100, 200])).toEqual([
      true,
      true,
      true,
      1,
      1,
      true,
      1,
      true,
    ]);
  });

  it("never holds more than the burst, however long it was left alone", () => {
    expect(takeMany([0, 3_600_000, 3_600_000, 3_600_000, 3_600_000])).toEqual([
      true,
      true,
      true,
      true,
      1,
    ]);
  });

  it("says how long until it has enough", () => {
    const slow = { perSecond: 0.5, burst: 1 };
    const first = takeTokens(undefined, slow, 0, 1);
    expect(first.allowed).toBe(true);
    expect(takeTokens(first.bucket, slow, 0, 1)).toMatchObject({
      allowed: false,
      retryAfterSeconds: 2,
    });
  });

  it("lets a cost above the burst through when it is full, and makes it wait for the debt", () => {
    expect(takeMany([0, 100, 2000], 20)).toEqual([true, 2, true]);
  });

  it("is not filled by a clock that goes back", () => {
    expect(takeMany([1000, 1000, 1000, 0])).toEqual([true, true, true, 1]);
  });
});
