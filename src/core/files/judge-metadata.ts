/**
 * Finds references in metadata that GDAL keeps in a file as XML: tag 42112 of GeoTIFF, boxes of
 * JPEG 2000. GDAL opens what some of its items name, also a virtual raster that is written there
 * itself. The whole text is searched and not parsed, so that no parser can be deceived about where
 * an item begins.
 */
import { externalReference, shown } from "./problem.ts";
import type { FileProblem } from "./problem.ts";

const entities: Readonly<Record<string, string>> = {
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  amp: "&",
};

/** Decodes twice, because an inline virtual raster is escaped as often as it is nested. */
function decode(text: string): string {
  let decoded = text;
  for (let round = 0; round < 2; round++) {
    decoded = decoded.replaceAll(/&(?:#x([\da-f]+)|#(\d+)|(\w+));/gi, (whole, hex, dec, name) => {
      if (name !== undefined) return entities[(name as string).toLowerCase()] ?? whole;
      const code = hex === undefined ? Number(dec) : Number.parseInt(hex as string, 16);
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    });
  }
  return decoded;
}

const references: readonly (readonly [RegExp, string])[] = [
  [/OVERVIEW_FILE/i, "names another file as its overviews (OVERVIEW_FILE)"],
  [/MASK_FILE/i, "names another file as its mask (MASK_FILE)"],
  [
    /domain ?= ?["']? ?(?:overviews|geolocation|subdatasets|(?:new_)?vrt_sources|xml:vrt)\b/i,
    "has metadata of a domain by which GDAL finds other files",
  ],
  [/\b[XY]_DATASET\b|SUBDATASET_\d+_NAME/i, "names other rasters that GDAL would open"],
  [/< ?(?:VRT\w+|OGRVRT\w+|GDAL_WM\w+|WCS_GDAL)\b/i, "holds a virtual raster as text"],
  [/\/vsi[a-z]/i, "names a virtual file system of GDAL (/vsi…)"],
  // GDAL counts them in 32 bits, so that a number over 2^32 is a letter to it.
  [/&#(?:x[\da-f]{7,}|\d{8,});?/i, "hides letters behind numbers that no character has"],
];

/** `where` begins the message, such as "Its GDAL metadata". */
export function judgeMetadata(where: string, text: string): FileProblem | undefined {
  // One blank for each run of them: patterns with two runs in a row would take hours on a long one.
  const searched = `${text}\n${decode(text)}`.replaceAll(/\s+/g, " ");
  for (const [pattern, words] of references) {
    const found = pattern.exec(searched);
    if (found === null) continue;
    return externalReference(`${where} ${words}: "${shown(found[0])}".`);
  }
  return undefined;
}
