/**
 * What may be given as a CRS. GDAL also takes the names of files and addresses for one; a parameter
 * that came from outside must not make it open either.
 */
const forms: readonly RegExp[] = [
  /^[A-Za-z][A-Za-z0-9_]{1,31}:[A-Za-z0-9_.-]{1,32}$/,
  /^urn:ogc:def:crs:[A-Za-z0-9_.:-]{1,128}$/i,
  /^\+(?:proj|type)=[A-Za-z]/,
  /^(?:PROJ|GEOG|GEOD|BOUND|COMPOUND|PROJECTED|GEOGRAPHIC|GEODETIC|ENG|LOCAL)(?:CRS|CS|_CS)\s*[[(]/i,
  /^COMPD_CS\s*[[(]/i,
  /^\{[^]*"type"\s*:\s*"[A-Za-z]*CRS"/,
];

/** PROJ reads the files that these name. */
const namesFile = /\+(?:init|nadgrids|geoidgrids|grids|pipeline|file)\b/i;

/** Schemes of addresses have the form of `AUTHORITY:CODE`. */
const scheme = /^(?:https?|ftp|file|data|vsi[a-z0-9_]*):/i;

export function isCrsText(text: string): boolean {
  const trimmed = text.trim();
  return (
    forms.some((form) => form.test(trimmed)) && !namesFile.test(trimmed) && !scheme.test(trimmed)
  );
}
