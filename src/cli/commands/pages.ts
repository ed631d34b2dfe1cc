interface Page<Item> {
  readonly items: readonly Item[];
  readonly next_cursor: string | null;
}

const largestPage = 500;

/** Page after page until there are `limit` items, or no more. */
export async function collectPages<Item>(
  limit: number,
  read: (paging: { limit: number; cursor: string | undefined }) => Promise<Page<Item>>,
): Promise<Item[]> {
  const items: Item[] = [];
  let cursor: string | undefined;
  while (items.length < limit) {
    const page = await read({ limit: Math.min(largestPage, limit - items.length), cursor });
    items.push(...page.items);
    if (page.next_cursor === null) break;
    cursor = page.next_cursor;
  }
  return items;
}
