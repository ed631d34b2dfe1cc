import { setTimeout as pause } from "node:timers/promises";

const roundMs = 50;

/** Until a program says that it can serve; who waits in vain sees its log meanwhile. */
export async function waitUntilReady(url: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const isReady = await fetch(`${url}/readyz`, { signal }).then(
      async (answer) => {
        await answer.arrayBuffer();
        return answer.ok;
      },
      () => false,
    );
    if (isReady) return;
    await pause(roundMs, undefined, { signal });
  }
}
