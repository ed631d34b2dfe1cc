import { setTimeout as pause } from "node:timers/promises";

export interface WaitOptions {
  readonly timeoutMs?: number;
  /** What is awaited, in words: it is all that a failure can say. */
  readonly what: string;
}

/** A condition is often a request or a query: asked every 5 ms it would keep a core busy. */
const pollMs = { first: 5, longest: 50 };

/** Waits until the condition gives something other than false, null or undefined, and returns it. */
export async function waitFor<T>(
  condition: () => T | Promise<T>,
  { timeoutMs = 30_000, what }: WaitOptions,
): Promise<Exclude<Awaited<T>, false | null | undefined>> {
  const began = performance.now();
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
    const waited = performance.now() - began;
    if (waited > timeoutMs) {
      const cause = lastError === undefined ? {} : { cause: lastError };
      throw new Error(`Waited ${timeoutMs} ms in vain for: ${what}`, cause);
    }
    await pause(Math.min(pollMs.longest, Math.max(pollMs.first, waited / 10)));
  }
}
