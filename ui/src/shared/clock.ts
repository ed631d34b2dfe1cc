/** The one place that asks what time it is. */
export function now(): number {
  return Date.now();
}
