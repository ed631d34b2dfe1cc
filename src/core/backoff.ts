/**
 * Exponential backoff: the delay is `first` before the first retry and doubles with each retry, up
 * to `longest`. `retries` counts the retries before this one; any unit of time will do.
 */
export function backoffDelay(retries: number, first: number, longest: number): number {
  // Bounded, because 0 times infinity is not a number.
  return Math.min(longest, first * 2 ** Math.min(retries, 50));
}
