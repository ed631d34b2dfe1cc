/**
 * The only place that asks what time it is. What compares times across processes uses the
 * database's clock instead: two machines never agree.
 */
export interface Clock {
  now(): Date;
}

export const systemClock: Clock = { now: () => new Date() };
