/** From one measured cell to the figure by which its workload is judged. */
export function figures(result) {
  const { row, tasks, wallMs, latencies } = result;
  if (row.startsWith("W1")) {
    const [p50, p95] = [0.5, 0.95].map((part) => percentile(latencies, part));
    return { value: p50, p95, headline: `p50 ${p50.toFixed(2)} ms, p95 ${p95.toFixed(2)} ms` };
  }
  if (row.startsWith("W2")) {
    const value = wallMs / tasks;
    return { value, headline: `${value.toFixed(2)} ms a hop` };
  }
  const value = (tasks / wallMs) * 1000;
  return { value, headline: `${Math.round(value).toLocaleString("en-US")} tasks/s` };
}

export function percentile(values, part) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))];
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return sorted.length % 2 === 1
    ? sorted[Math.floor(middle)]
    : (sorted[middle - 1] + sorted[middle]) / 2;
}

export function medianOf(values) {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? undefined : median(known);
}

/** How many times as fast one entry of a row is as another, within each round. */
export function ratioBetween({ isLower }, ours, theirs) {
  const rounds = (entry) => new Map(Object.entries(entry.byRound ?? {}));
  return ratioOf(rounds(ours), rounds(theirs), isLower);
}

export function ratioOf(ours, theirs, isLower) {
  const both = [...theirs].filter(([round]) => ours.has(round));
  return medianOf(
    both.map(([round, value]) => (isLower ? value / ours.get(round) : ours.get(round) / value)),
  );
}
