import { setTimeout as pause } from "node:timers/promises";

/**
 * Between the single jobs of W1: long enough that everybody is idle again, and of changing length,
 * so that no peer's timer keeps step with the submitter. The same sequence for every peer.
 */
export async function pauses(n) {
  await pause(4 + ((n * 7) % 11));
}
