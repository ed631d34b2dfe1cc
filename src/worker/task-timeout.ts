import type { AbortCause, Delivery, DeliveryAborted } from "../adapters/broker/broker.ts";

export type StopCause = AbortCause | "timeout";

/** Stops a task from outside: at its time limit, or when its delivery is aborted. */
export interface StopSignal {
  /**
   * The signal of the handler's context. Created at its first use: most handlers never read it, and
   * two signals for each task took an eighth of a worker's time.
   */
  readonly signal: AbortSignal;
  /** The first cause; undefined while nothing has stopped the task. */
  cause(): StopCause | undefined;
  throwIfStopped(): void;
  /** The listener is called when the handler has not stopped within the grace period. */
  onAbandoned(listener: (error: Error) => void): void;
  disarm(): void;
}

/** Timers hold 31 bits. */
const longestTimerMs = 2 ** 31 - 1;

/** The time that a handler has to stop. At a shutdown the grace of the subscription limits it. */
const graceMs: Readonly<Record<StopCause, number>> = {
  timeout: 5000,
  cancelled: 30_000,
  lost: 5000,
  held_too_long: 5000,
  shutdown: longestTimerMs,
};

export function armStop(delivery: Pick<Delivery, "onAbort">, timeoutMs: number): StopSignal {
  let controller: AbortController | undefined;
  let stopped: { readonly cause: StopCause; readonly reason: Error } | undefined;
  let graceTimer: NodeJS.Timeout | undefined;
  let abandon: (error: Error) => void = () => undefined;

  function stop(cause: StopCause, reason: Error): void {
    if (stopped !== undefined) return;
    stopped = { cause, reason };
    controller?.abort(reason);
    graceTimer = setTimeout(() => {
      abandon(new Error("The handler did not stop within its grace period."));
    }, graceMs[cause]);
  }

  const timer = setTimeout(
    () => {
      const seconds = timeoutMs / 1000;
      stop("timeout", new DOMException(`The task took longer than ${seconds} s.`, "TimeoutError"));
    },
    Math.min(timeoutMs, longestTimerMs),
  );
  const removeListener = delivery.onAbort((reason: DeliveryAborted) => {
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
    cause: () => stopped?.cause,
    throwIfStopped: () => {
      if (stopped !== undefined) throw stopped.reason;
    },
    onAbandoned: (listener) => {
      abandon = listener;
    },
    disarm: () => {
      clearTimeout(timer);
      clearTimeout(graceTimer);
      removeListener();
    },
  };
}
