/** Wraps a function that reads the state of the platform for its observers. */
export type Share = <T>(read: () => Promise<T>) => () => Promise<T>;

/** The least and the longest time for which observers get the same answer. */
const leastMs = 250;
const longestMs = 10_000;
/** An answer is kept for so many times as long as its reading took. */
const keptFactor = 50;
/** An answer that is overdue by less is given once more while the next one is read: frequent observers never wait. */
const overdueMs = 1000;

/**
 * Gives all observers that ask at about the same time one reading. Counting messages and jobs takes the
 * longer the more there are, so the answer is kept in proportion: however many dashboards and probes ask,
 * at most a fiftieth of the time is spent on reading for them. A failure is not kept.
 */
export const shareReading: Share = (read) => {
  let kept: ReturnType<typeof read> | undefined;
  let until = 0;
  let reading: typeof kept;

  function start(): ReturnType<typeof read> {
    const begun = performance.now();
    const mine = read();
    reading = mine;
    mine.then(
      () => {
        const now = performance.now();
        until = now + Math.min(longestMs, Math.max(leastMs, keptFactor * (now - begun)));
        kept = mine;
        reading = undefined;
      },
      () => {
        kept = undefined;
        reading = undefined;
      },
    );
    return mine;
  }

  return () => {
    const overdue = performance.now() - until;
    if (kept === undefined || overdue >= overdueMs) return reading ?? start();
    if (overdue >= 0 && reading === undefined) void start();
    return kept;
  };
};
