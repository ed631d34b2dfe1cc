/** When a callback is tried again, and how it is signed. */
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

/** What is signed: without the time in it an old message could be sent again for ever. */
export function signedText(timestamp: number, body: string): string {
  return `${timestamp}.${body}`;
}

/** One `v1` for each secret that is good now: while a platform changes its secret, two. */
export function signatureHeader(timestamp: number, signatures: readonly string[]): string {
  return [`t=${timestamp}`, ...signatures.map((each) => `v1=${each}`)].join(",");
}
