export function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}

/** The median of the ratios within each round. */
export function ratioOf(ones, others) {
  return median(ones.map((value, round) => value / others[round]));
}

export async function secondsOf(work) {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
}
