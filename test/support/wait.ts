import { setTimeout as pause } from "node:timers/promises";

export interface WaitOptions {
  readonly timeoutMs?: number;
  /** What is awaited, in words: it is all that a failure can say. */
  readonly what: string;
  /** The condition stays true once it is, and may be asked the less often the longer it takes. */
  readonly isFinal?: boolean;
}

/**
 * A condition is often a request, a query or a screenshot: asked every 5 ms it would keep a core busy.
 * Asking takes half of the time at most.
 */
function pollMs(waited: number, asked: number, isFinal: boolean): number {
  const pause = isFinal ? Math.min(1000, waited / 20) : Math.min(50, waited / 10);
  return Math.max(5, pause, Math.min(250, asked));
}

/** Waits until the condition gives something other than false, null or undefined, and returns it. */
export async function waitFor<T>(
  condition: () => T | Promise<T>,
  { timeoutMs = 30_000, what, isFinal = false }: WaitOptions,
): Promise<Exclude<Awaited<T>, false | null | undefined>> {
  const began = performance.now();
  let lastError: unknown;
  for (;;) {
    const asked = performance.now();
    try {
      const value = await condition();
      if (value !== false && value !== null && value !== undefined) {
        return value as Exclude<Awaited<T>, false | null | undefined>;
      }
      lastError = undefined;
    } catch (error) {
      lastError = error;
    }
    const now = performance.now();
    const waited = now - began;
    if (waited > timeoutMs) {
      const cause = lastError === undefined ? {} : { cause: lastError };
      throw new Error(`Waited ${timeoutMs} ms in vain for: ${what}`, cause);
    }
    await pause(pollMs(waited, now - asked, isFinal));
  }
}
