/** At most so many at once; the others wait in order, and leave the row when they are aborted. */
export type Limit = <Value>(signal: AbortSignal, act: () => Promise<Value>) => Promise<Value>;

export function createLimit(most: number): Limit {
  let running = 0;
  const waiting = new Set<() => void>();

  async function enter(signal: AbortSignal): Promise<void> {
    if (running < most) {
      running++;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const start = () => {
        signal.removeEventListener("abort", leave);
        resolve();
      };
      const leave = () => {
        waiting.delete(start);
        reject(signal.reason as Error);
      };
      waiting.add(start);
      signal.addEventListener("abort", leave, { once: true });
    });
  }

  function leave(): void {
    const [next] = waiting;
    // The place passes on to the next one, so that nobody slips in between.
    if (next === undefined) running--;
    else {
      waiting.delete(next);
      next();
    }
  }

  return async (signal, act) => {
    signal.throwIfAborted();
    await enter(signal);
    try {
      return await act();
    } finally {
      leave();
    }
  };
}
