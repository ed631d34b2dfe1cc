import { randomUUID } from "node:crypto";
import { systemClock } from "./clock.ts";

/**
 * Makes ids of jobs: UUIDs of version 7 (RFC 9562) without hyphens. They begin with the time and a counter,
 * so ids of one process ascend. New rows then lie side by side in the indexes of the tables, whatever
 * their size; a random id would change a page of its own in each of them.
 */
export function jobIds(clock = systemClock): () => string {
  let time = 0;
  let counter = 0;
  return () => {
    const now = clock.now().getTime();
    if (now > time) {
      time = now;
      counter = 0;
    } else if (counter < mostInMillisecond) {
      counter += 1;
    } else {
      // Faster than the counter, or a clock that was set back: the id is ahead of the clock.
      time += 1;
      counter = 0;
    }
    const random = randomUUID();
    const counted = counter.toString(16).padStart(3, "0");
    return `${time.toString(16).padStart(12, "0")}7${counted}${random.slice(19, 23)}${random.slice(24)}`;
  };
}

const mostInMillisecond = 0xfff;

export const newJobId = jobIds();
