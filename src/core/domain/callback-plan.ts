/** When a callback is tried again. */
import { backoffDelay } from "../backoff.ts";

export const mostAttempts = 10;

/** Waits of 10 s, 20 s, … up to an hour: ten attempts reach over about three hours. */
export function nextDelaySeconds(attempt: number): number | undefined {
  if (attempt >= mostAttempts) return undefined;
  return backoffDelay(attempt - 1, 10, 3600);
}

/** After so many failures in a row a host is left alone. */
export const failuresToOpen = 5;

/** For half a minute at first, doubling up to a quarter of an hour. */
export function openSeconds(failures: number): number | undefined {
  if (failures < failuresToOpen) return undefined;
  return backoffDelay(failures - failuresToOpen, 30, 900);
}
