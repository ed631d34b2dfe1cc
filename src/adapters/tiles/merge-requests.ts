/** Makes a value once for all requests that wait for it, and aborts when the last one has left. */
export type MergeRequests<Value> = (
  key: string,
  signal: AbortSignal,
  make: (signal: AbortSignal) => Promise<Value>,
) => Promise<Value>;

interface Shared<Value> {
  waiting: number;
  readonly aborter: AbortController;
  readonly made: Promise<Value>;
}

export function createMergeRequests<Value>(): MergeRequests<Value> {
  const inFlight = new Map<string, Shared<Value>>();

  return async (key, signal, make) => {
    signal.throwIfAborted();
    let shared = inFlight.get(key);
    if (shared === undefined) {
      const aborter = new AbortController();
      const begun: Shared<Value> = { waiting: 0, aborter, made: make(aborter.signal) };
      const end = () => {
        if (inFlight.get(key) === begun) inFlight.delete(key);
      };
      begun.made.then(end, end);
      inFlight.set(key, begun);
      shared = begun;
    }
    return wait(shared, signal, key);
  };

  async function wait(shared: Shared<Value>, signal: AbortSignal, key: string): Promise<Value> {
    shared.waiting++;
    const leave = () => {
      if (--shared.waiting > 0) return;
      // A new request must not join the one that is being aborted.
      if (inFlight.get(key) === shared) inFlight.delete(key);
      shared.aborter.abort(signal.reason);
    };
    signal.addEventListener("abort", leave, { once: true });
    try {
      return await shared.made;
    } finally {
      signal.removeEventListener("abort", leave);
    }
  }
}
