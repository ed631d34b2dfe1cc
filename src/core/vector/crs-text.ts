/**
 * GDAL also takes a file's name or an address for a reference system, and reads it. Whoever sends a
 * task may name a system, and nothing else.
 */
const authority = /^[A-Za-z][A-Za-z0-9_]*:[A-Za-z0-9_.]+$/;
const wkt = /^(?:GEOG|PROJ|GEOD|BOUND|COMPD?|COMPOUND|GEOC)[A-Z]*\[/;
const proj = /^\+proj=[^/\\]*$/;

export function isCrsText(text: string): boolean {
  const trimmed = text.trim();
  return authority.test(trimmed) || wkt.test(trimmed) || proj.test(trimmed);
}
