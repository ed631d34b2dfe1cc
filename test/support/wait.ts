import { setTimeout as pause } from "node:timers/promises";

export interface WaitOptions {
  readonly timeoutMs?: number;
  /** What is awaited, in words: it is all that a failure can say. */
  readonly what: string;
}

const pollMs = 5;

/** Waits until the condition gives something other than false, null or undefined, and returns it. */
export async function waitFor<T>(
  condition: () => T | Promise<T>,
  { timeoutMs = 10_000, what }: WaitOptions,
): Promise<Exclude<Awaited<T>, false | null | undefined>> {
  const deadline = performance.now() + timeoutMs;
  let lastError: unknown;
  for (;;) {
    try {
      const value = await condition();
      if (value !== false && value !== null && value !== undefined) {
        return value as Exclude<Awaited<T>, false | null | undefined>;
      }
      lastError = undefined;
    } catch (error) {
      lastError = error;
    }
    if (performance.now() > deadline) {
      const cause = lastError === undefined ? {} : { cause: lastError };
      throw new Error(`Waited ${timeoutMs} ms in vain for: ${what}`, cause);
    }
    await pause(pollMs);
  }
}
