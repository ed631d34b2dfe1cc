/**
 * The only place that asks what time it is. What compares times across processes uses the
 * database's clock instead: two machines never agree.
 */
export interface Clock {
  now(): Date;
}

export const systemClock: Clock = { now: () => new Date() };

export interface ManualClock extends Clock {
  advance(milliseconds: number): void;
}

/** A clock that stands still until a test moves it. */
export function manualClock(start: Date): ManualClock {
  let time = start.getTime();
  return {
    now: () => new Date(time),
    advance: (milliseconds) => {
      time += milliseconds;
    },
  };
}
