import { DeliveryAborted } from "../adapters/broker/broker.ts";
import type { AbortCause } from "../adapters/broker/broker.ts";

export type StopCause = AbortCause | "timeout";

/** The one signal that a handler sees: its time limit, and whatever ends its delivery. */
export interface StopSignal {
  readonly signal: AbortSignal;
  /** The first cause; undefined while nothing has stopped the task. */
  cause(): StopCause | undefined;
  /** Rejects when the handler was told to stop and has not done so within a grace. */
  readonly abandoned: Promise<never>;
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

export function armStop(delivery: AbortSignal, timeoutMs: number): StopSignal {
  const controller = new AbortController();
  let cause: StopCause | undefined;
  let graceTimer: NodeJS.Timeout | undefined;
  let abandon: (error: Error) => void = () => undefined;
  const abandoned = new Promise<never>((_, reject) => (abandon = reject));
  // Usually nobody waits for it any more.
  abandoned.catch(() => undefined);

  function stop(why: StopCause, reason: Error): void {
    if (cause !== undefined) return;
    cause = why;
    controller.abort(reason);
    graceTimer = setTimeout(() => {
      abandon(new Error("The handler was told to stop and did not."));
    }, graceMs[why]);
  }

  const onDelivery = () => {
    const reason: unknown = delivery.reason;
    if (reason instanceof DeliveryAborted) stop(reason.abortCause, reason);
    else stop("lost", new DeliveryAborted("lost"));
  };
  const timer = setTimeout(
    () => {
      const seconds = timeoutMs / 1000;
      stop("timeout", new DOMException(`The task took longer than ${seconds} s.`, "TimeoutError"));
    },
    Math.min(timeoutMs, longestTimerMs),
  );
  if (delivery.aborted) onDelivery();
  else delivery.addEventListener("abort", onDelivery, { once: true });

  return {
    signal: controller.signal,
    cause: () => cause,
    abandoned,
    disarm: () => {
      clearTimeout(timer);
      clearTimeout(graceTimer);
      delivery.removeEventListener("abort", onDelivery);
    },
  };
}
