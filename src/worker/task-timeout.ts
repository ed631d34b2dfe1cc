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
  return new ArmedStop(delivery, timeoutMs);
}

/** A class: an object literal with an accessor takes microseconds to make, and each task has one. */
class ArmedStop implements StopSignal {
  private controller: AbortController | undefined;
  private stopped: { readonly cause: StopCause; readonly reason: Error } | undefined;
  private graceTimer: NodeJS.Timeout | undefined;
  private abandon: ((error: Error) => void) | undefined;
  private readonly timer: NodeJS.Timeout;
  private readonly removeListener: () => void;

  constructor(delivery: Pick<Delivery, "onAbort">, timeoutMs: number) {
    this.timer = setTimeout(
      () => {
        const text = `The task took longer than ${timeoutMs / 1000} s.`;
        this.stop("timeout", new DOMException(text, "TimeoutError"));
      },
      Math.min(timeoutMs, longestTimerMs),
    );
    this.removeListener = delivery.onAbort((reason: DeliveryAborted) => {
      this.stop(reason.abortCause, reason);
    });
  }

  get signal(): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController();
      if (this.stopped !== undefined) this.controller.abort(this.stopped.reason);
    }
    return this.controller.signal;
  }

  cause(): StopCause | undefined {
    return this.stopped?.cause;
  }

  throwIfStopped(): void {
    if (this.stopped !== undefined) throw this.stopped.reason;
  }

  onAbandoned(listener: (error: Error) => void): void {
    this.abandon = listener;
  }

  disarm(): void {
    clearTimeout(this.timer);
    clearTimeout(this.graceTimer);
    this.removeListener();
  }

  private stop(cause: StopCause, reason: Error): void {
    if (this.stopped !== undefined) return;
    this.stopped = { cause, reason };
    this.controller?.abort(reason);
    this.graceTimer = setTimeout(() => {
      this.abandon?.(new Error("The handler did not stop within its grace period."));
    }, graceMs[cause]);
  }
}
