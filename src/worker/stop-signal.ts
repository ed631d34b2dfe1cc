import type { AbortCause, Delivery, DeliveryAborted } from "../adapters/broker/broker.ts";

export type StopCause = AbortCause | "timeout";

/** What ends a task before it has ended itself: its time limit, and whatever ends its delivery. */
export interface StopSignal {
  /**
   * The one signal that a handler sees. Made when somebody looks at it: most tasks are over before
   * anybody does, and two signals for each took an eighth of a worker's time.
   */
  readonly signal: AbortSignal;
  /** The first cause; undefined while nothing has stopped the task. */
  cause(): StopCause | undefined;
  throwIfStopped(): void;
  /** Called when the handler was told to stop and has not done so within a grace. */
  onAbandoned(tell: (error: Error) => void): void;
  disarm(): void;
}

/** Timers hold 31 bits. */
const longestTimerMs = 2 ** 31 - 1;

/** What a handler gets to stop in. At a shutdown the subscription's own grace is what counts. */
const graceMs: Readonly<Record<StopCause, number>> = {
  timeout: 5000,
  cancelled: 30_000,
  lost: 5000,
  held_too_long: 5000,
  shutdown: longestTimerMs,
};

export function armStop(delivery: Pick<Delivery, "onAbort">, timeoutMs: number): StopSignal {
  let controller: AbortController | undefined;
  let stopped: { readonly why: StopCause; readonly reason: Error } | undefined;
  let graceTimer: NodeJS.Timeout | undefined;
  let abandon: (error: Error) => void = () => undefined;

  function stop(why: StopCause, reason: Error): void {
    if (stopped !== undefined) return;
    stopped = { why, reason };
    controller?.abort(reason);
    graceTimer = setTimeout(() => {
      abandon(new Error("The handler was told to stop and did not."));
    }, graceMs[why]);
  }

  const timer = setTimeout(
    () => {
      const seconds = timeoutMs / 1000;
      stop("timeout", new DOMException(`The task took longer than ${seconds} s.`, "TimeoutError"));
    },
    Math.min(timeoutMs, longestTimerMs),
  );
  const forget = delivery.onAbort((reason: DeliveryAborted) => {
    stop(reason.abortCause, reason);
  });

  return {
    get signal() {
      if (controller === undefined) {
        controller = new AbortController();
        if (stopped !== undefined) controller.abort(stopped.reason);
      }
      return controller.signal;
    },
    cause: () => stopped?.why,
    throwIfStopped: () => {
      if (stopped !== undefined) throw stopped.reason;
    },
    onAbandoned: (tell) => {
      abandon = tell;
    },
    disarm: () => {
      clearTimeout(timer);
      clearTimeout(graceTimer);
      forget();
    },
  };
}
