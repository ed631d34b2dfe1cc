/** A few at a time: each starts programs, and a list may be long. In the order given. */
export async function eachOf<Value, Result>(
  values: readonly Value[],
  work: (value: Value, index: number) => Promise<Result>,
  atOnce = 4,
): Promise<Result[]> {
  const results = new Array<Result>(values.length);
  const waiting = [...values.entries()].values();
  const lane = async () => {
    for (const [index, value] of waiting) results[index] = await work(value, index);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, values.length) }, lane));
  return results;
}
