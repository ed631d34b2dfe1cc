/** A row as it travels: times as text. The query names the shape it selects, as with `query<Row>`. */
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- a cast with a name
export function isoRow<T extends object>(row: object): T {
  return Object.fromEntries(
    Object.entries(row).map(([key, value]: [string, unknown]) => [
      key,
      value instanceof Date ? value.toISOString() : value,
    ]),
  ) as T;
}
