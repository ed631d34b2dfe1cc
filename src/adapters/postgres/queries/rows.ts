import { cut } from "./conditions.ts";

/** A row with its times as text. */
export type Sent<Row> = {
  readonly [Key in keyof Row]: Row[Key] extends Date
    ? string
    : Row[Key] extends Date | null
      ? string | null
      : Row[Key];
};

export function toSent<Row extends object>(row: Row): Sent<Row> {
  const entries = Object.entries(row).map(([key, value]) => [
    key,
    value instanceof Date ? value.toISOString() : (value as unknown),
  ]);
  return Object.fromEntries(entries) as Sent<Row>;
}

/** Makes a page, with the place of its last row if another page follows. */
export function toPage<Row extends { place: string }>(
  rows: readonly Row[],
  limit: number,
): { items: Sent<Omit<Row, "place">>[]; last: Row | null } {
  const page = cut(rows, limit);
  const items = page.rows.map(({ place: _, ...row }) => toSent(row));
  return { items, last: page.last };
}

/** `toSent` for a query without a row type: the caller names the type of the sent row. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- a cast with a name
export function isoRow<T extends object>(row: object): T {
  return toSent(row) as T;
}
