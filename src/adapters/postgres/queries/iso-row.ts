/** A row as it travels: times as text. */
export function isoRow<T extends object>(row: object): T {
  return Object.fromEntries(
    Object.entries(row).map(([key, value]: [string, unknown]) => [
      key,
      value instanceof Date ? value.toISOString() : value,
    ]),
  ) as T;
}
