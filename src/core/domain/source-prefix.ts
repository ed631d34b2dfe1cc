/**
 * Where a platform's files may lie: places such as `bronze/ddh` or `https://data.example.org/ddh`,
 * and everything below them. A platform without any may read from wherever sources may come.
 */
export function isBelow(display: string, prefixes: readonly string[]): boolean {
  if (prefixes.length === 0) return true;
  const place = placeOf(display);
  // What a server makes of an encoded slash, or a mount of "..", may be another place.
  if (/(?:^|\/)\.\.(?:\/|$)|%2f|%5c|%2e/i.test(place)) return false;
  return prefixes.some((prefix) => {
    const folder = prefix.replace(/\/+$/, "");
    return place === folder || place.startsWith(`${folder}/`);
  });
}

/** An archive is where its file is; the member's name follows it. */
export function placeOf(display: string): string {
  return display.replace(/^(?:\/vsi(?:zip|tar|gzip)\/)+/, "");
}
