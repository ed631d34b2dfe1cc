/**
 * The only place that reads the time. Code that compares times of several processes uses the
 * database's clock instead, because the clocks of two machines differ.
 */
export interface Clock {
  now(): Date;
}

export const systemClock: Clock = { now: () => new Date() };
