/** `1.5 kB`: powers of 1024, with the names that people read. */
export function bytesText(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let [value, at] = [bytes, 0];
  for (; value >= 1000 && at < units.length - 1; at++) value /= 1024;
  return `${at === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[at] ?? ""}`;
}
