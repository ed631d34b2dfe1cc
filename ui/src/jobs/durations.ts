/** Counts durations in classes whose upper bounds are easy to read. */
export interface DurationClass {
  readonly label: string;
  readonly count: number;
}

const bounds: readonly (readonly [seconds: number, label: string])[] = [
  [0.1, "< 0.1 s"],
  [0.5, "< 0.5 s"],
  [1, "< 1 s"],
  [5, "< 5 s"],
  [30, "< 30 s"],
  [60, "< 1 min"],
  [300, "< 5 min"],
  [1800, "< 30 min"],
  [Infinity, "longer"],
];

/** From the first to the last class that has any; none without durations. */
export function classesOf(seconds: readonly number[]): readonly DurationClass[] {
  const counts = bounds.map(([bound, label], index) => {
    const least = bounds[index - 1]?.[0] ?? -Infinity;
    return { label, count: seconds.filter((each) => each >= least && each < bound).length };
  });
  const first = counts.findIndex(({ count }) => count > 0);
  const last = counts.findLastIndex(({ count }) => count > 0);
  return first < 0 ? [] : counts.slice(first, last + 1);
}
