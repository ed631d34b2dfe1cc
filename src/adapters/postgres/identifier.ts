/** A name that came from data, as SQL text. Values go in parameters; names cannot. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
