/**
 * Runs suspects alone. A suspect is a message that was lost with others when their process died: if
 * this process dies too while it runs nothing else, the culprit is known.
 *
 * All subscriptions of a process share one isolation. While a suspect runs, or waits for the running
 * handlers to end, no subscription starts a message or takes one.
 */
export interface Isolation {
  /** A suspect runs, or waits for its turn: nothing else may start. */
  isClosed(): boolean;
  join(member: Member): void;
  leave(member: Member): void;
  /**
   * Calls `run` once nothing else runs in this process. A process with other work does so only for a
   * suspect that has waited a while, because an idle one may take it sooner.
   */
  request(waitedMs: number, run: () => Promise<void>): void;
  /** To be called when a member may have become idle. */
  advance(): void;
}

interface Member {
  isIdle(): boolean;
  wake(): void;
}

const yieldToIdleMs = 5000;

export function createIsolation(): Isolation {
  const members = new Set<Member>();
  let waiting: (() => Promise<void>) | undefined;
  let isRunning = false;

  const isIdle = () => [...members].every((member) => member.isIdle());

  function advance(): void {
    if (waiting === undefined || isRunning || !isIdle()) return;
    const run = waiting;
    isRunning = true;
    void run().finally(() => {
      waiting = undefined;
      isRunning = false;
      for (const member of members) member.wake();
    });
  }

  return {
    isClosed: () => waiting !== undefined,
    join: (member) => members.add(member),
    leave: (member) => {
      members.delete(member);
      advance();
    },
    request(waitedMs, run) {
      if (waiting !== undefined || (waitedMs < yieldToIdleMs && !isIdle())) return;
      waiting = run;
      advance();
    },
    advance,
  };
}
