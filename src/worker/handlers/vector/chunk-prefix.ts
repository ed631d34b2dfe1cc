/** Where the chunks of a load lie until its layer is published. */
export function chunkPrefix(loadId: string): string {
  return `silver/vector-loads/${loadId}`;
}
