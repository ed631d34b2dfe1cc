/** A quarter of the smallest body that is taken whole, because a character may have several bytes. */
const mostCharacters = 1024 * 1024;

/** Splits a batch into parts that each fit into one request; an item larger than a part is alone. */
export function splitBySize<Item>(
  batch: readonly Item[],
  sizeOf: (item: Item) => number,
): Item[][] {
  const parts: Item[][] = [];
  let room = 0;
  for (const item of batch) {
    const size = sizeOf(item);
    const last = parts.at(-1);
    if (last !== undefined && size <= room) last.push(item);
    else {
      parts.push([item]);
      room = mostCharacters;
    }
    room -= size;
  }
  return parts;
}
