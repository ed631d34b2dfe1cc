/** Runs `work(0..count-1)` with at most `width` under way. */
export async function inFlight(count, width, work) {
  let next = 0;
  const lane = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: Math.min(width, count) }, lane));
}

/** The numbers from 0, cut into lists: for interfaces that take many at once. */
export function chunks(count, width) {
  return Array.from({ length: Math.ceil(count / width) }, (_, at) =>
    Array.from({ length: Math.min(width, count - at * width) }, (_, one) => at * width + one),
  );
}
