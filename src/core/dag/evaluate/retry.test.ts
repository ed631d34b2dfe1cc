import { describe, expect, it } from "vitest";
import type { TaskError } from "../../model/task.ts";
import { retryPolicy } from "../../model/workflow.ts";
import { decideRetry, delaySeconds, throttleBudget } from "./retry.ts";

const error = (category: TaskError["category"], details?: TaskError["details"]): TaskError => ({
  code: "X",
  message: "x",
  category,
  ...(details ? { details } : {}),
});
const policy = (given: object = {}) => retryPolicy.parse({ jitter: false, ...given });
const none = { retry_count: 0, throttle_count: 0 };

describe("retry", () => {
  it("allows three retries unless the author says otherwise", () => {
    expect(policy().max_attempts).toBe(3);
    const verdicts = [0, 1, 2, 3].map((retry_count) =>
      decideRetry(policy(), error("transient"), { ...none, retry_count }, "k", 0),
    );
    expect(verdicts.map(({ retry }) => retry)).toEqual([true, true, true, false]);
  });

  it.each([
    ["fixed", [5, 5, 5, 5]],
    ["linear", [5, 10, 15, 20]],
    ["exponential", [5, 10, 20, 40]],
  ] as const)("waits by %s backoff", (backoff, expected) => {
    const delays = expected.map((_, failures) => delaySeconds(policy({ backoff }), failures));
    expect(delays).toEqual(expected);
  });

  it("never waits longer than max_delay_seconds, however often it failed", () => {
    const capped = policy({ backoff: "exponential", max_delay_seconds: 30 });
    expect([0, 3, 100].map((failures) => delaySeconds(capped, failures))).toEqual([5, 30, 30]);
  });

  it("spreads retries with jitter: later than the policy by at most a quarter, never earlier", () => {
    const jittery = policy({ jitter: true });
    const times = Array.from({ length: 500 }, (_, i) => {
      const verdict = decideRetry(jittery, error("transient"), none, `job_node_${i}`, 1000);
      return verdict.retry ? verdict.retry_at - 1000 : 0;
    });
    expect(Math.min(...times)).toBeGreaterThanOrEqual(5000);
    expect(Math.max(...times)).toBeLessThanOrEqual(6250);
    expect(new Set(times).size).toBeGreaterThan(300);
    const again = decideRetry(jittery, error("transient"), none, "job_node_0", 1000);
    expect(again).toMatchObject({ retry_at: 1000 + times[0]! });
  });

  it("gives throttling a budget of its own and honours what the server asked for", () => {
    const asked = error("throttling", { retry_after_seconds: 77 });
    expect(decideRetry(policy({ max_attempts: 0 }), asked, none, "k", 0)).toEqual({
      retry: true,
      retry_at: 77_000,
      retry_count: 0,
      throttle_count: 1,
    });
    const spent = { ...none, throttle_count: throttleBudget };
    expect(decideRetry(policy(), asked, spent, "k", 0).retry).toBe(false);
  });

  it("never repeats a permanent error", () => {
    expect(decideRetry(policy(), error("permanent"), none, "k", 0)).toEqual({ retry: false });
  });
});
