/**
 * Why a file is refused before GDAL sees it. Raster findings and errors of vector files have these
 * codes; docs/security.md lists them.
 */
export const fileProblems = {
  EXTERNAL_REFERENCE:
    "Take the reference out, so that the file holds all of its data itself, and submit it again.",
  ACTIVE_CONTENT:
    "Copy the layer into a new GeoPackage (ogr2ogr -f GPKG out.gpkg in.gpkg layer) and submit that.",
  SIDECAR_INVALID: "Correct the file beside it, or take it away, and submit again.",
  NAME_NOT_ALLOWED: "Rename it: a name begins with a letter, a digit or an underscore.",
} as const satisfies Record<string, string>;

export type FileProblemCode = keyof typeof fileProblems;

export interface FileProblem {
  readonly code: FileProblemCode;
  readonly message: string;
}

export function externalReference(message: string): FileProblem {
  return { code: "EXTERNAL_REFERENCE", message };
}

export function activeContent(message: string): FileProblem {
  return { code: "ACTIVE_CONTENT", message };
}

/** Shows a part of a file in a message: shortened, without control characters. */
export function shown(text: string): string {
  const plain = text.replaceAll(/[^\u0020-\u007e\u00a1-\ud7ff\ue000-\ufffd]+/g, " ").trim();
  return plain.length > 80 ? `${plain.slice(0, 80)}…` : plain;
}
