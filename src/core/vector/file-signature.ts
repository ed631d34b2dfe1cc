import type { SourceFormat } from "./source-format.ts";

/** RFC 8142 puts one before each line. */
export const recordSeparator = "\u001e";

/** Whether the first bytes of a file can be of the format that its name claims. */
export function looksLike(format: SourceFormat, start: Uint8Array): boolean {
  const text = textOf(start);
  switch (format.name) {
    case "Shapefile":
      return start[0] === 0 && start[1] === 0 && start[2] === 0x27 && start[3] === 0x0a;
    case "GeoPackage":
      return text.startsWith("SQLite format 3\0");
    case "FlatGeobuf":
      return text.startsWith("fgb");
    case "GeoJSON":
      return text.trimStart().startsWith("{");
    case "GeoJSON lines":
      return text.replaceAll(recordSeparator, "").trimStart().startsWith("{");
    case "KML":
      return /^\s*</.test(text) && !/<(?:OGRVRTDataSource|VRTDataset)\b/.test(text);
    default:
      return !/^\s*[<{]/.test(text);
  }
}

/** Without the mark that some editors put in front. */
function textOf(start: Uint8Array): string {
  const isMarked = start[0] === 0xef && start[1] === 0xbb && start[2] === 0xbf;
  return String.fromCharCode(...start.subarray(isMarked ? 3 : 0));
}
