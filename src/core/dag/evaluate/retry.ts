import { backoffDelay } from "../../backoff.ts";
import type { TaskError } from "../../model/task.ts";
import type { RetryPolicy } from "../../model/workflow.ts";

/**
 * Throttled attempts have a budget of their own: a service that asks for a pause says nothing about
 * the task, so its retries are not used up.
 */
export const throttleBudget = 5;

/** Jitter lengthens the delay of the policy by up to this share; it never shortens it. */
const jitterShare = 0.25;

export interface Attempts {
  readonly retry_count: number;
  readonly throttle_count: number;
}

export type RetryVerdict =
  ({ readonly retry: true; readonly retry_at: number } & Attempts) | { readonly retry: false };

/**
 * Decides whether another attempt follows a failed one, and when. `key` names the attempt, for
 * jitter.
 */
export function decideRetry(
  policy: RetryPolicy,
  error: TaskError,
  attempts: Attempts,
  key: string,
  now: number,
): RetryVerdict {
  const { retry_count, throttle_count } = attempts;
  switch (error.category) {
    case "permanent":
      return { retry: false };
    case "throttling": {
      if (throttle_count >= throttleBudget) return { retry: false };
      const asked = retryAfterSeconds(error);
      const delay = Math.max(
        asked,
        delaySeconds({ ...policy, backoff: "exponential" }, throttle_count),
      );
      const retry_at = now + withJitter(policy, delay, key);
      return {
        retry: true,
        retry_at,
        retry_count,
        throttle_count: throttle_count + 1,
      };
    }
    case "transient": {
      if (retry_count >= policy.max_attempts) return { retry: false };
      const retry_at = now + withJitter(policy, delaySeconds(policy, retry_count), key);
      return {
        retry: true,
        retry_at,
        retry_count: retry_count + 1,
        throttle_count,
      };
    }
  }
}

/** The delay before the retry that comes after `failures` earlier ones. */
export function delaySeconds(policy: RetryPolicy, failures: number): number {
  const first = policy.initial_delay_seconds;
  switch (policy.backoff) {
    case "fixed":
      return Math.min(first, policy.max_delay_seconds);
    case "linear":
      return Math.min(first * (failures + 1), policy.max_delay_seconds);
    case "exponential":
      return backoffDelay(failures, first, policy.max_delay_seconds);
  }
}

function retryAfterSeconds(error: TaskError): number {
  const asked = error.details?.["retry_after_seconds"];
  return typeof asked === "number" && asked > 0 ? Math.min(asked, 86_400) : 0;
}

function withJitter(policy: RetryPolicy, delay: number, key: string): number {
  const share = policy.jitter ? jitterShare * fraction(key) : 0;
  return Math.round(delay * (1 + share) * 1000);
}

/**
 * Turns a name into a number in [0, 1) (FNV-1a), so that the same attempt always waits equally
 * long.
 */
function fraction(key: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < key.length; i++) {
    hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193);
  }
  // FNV's high bits hardly move for short keys that differ at the end; one xor-shift mixes them.
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return ((hash ^ (hash >>> 12)) >>> 0) / 2 ** 32;
}
