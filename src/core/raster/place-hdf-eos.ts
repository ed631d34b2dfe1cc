/**
 * Places the grids of HDF-EOS5 (VIIRS, Black Marble) by the text `StructMetadata.0` of the file, which
 * GDAL reads from version 3.7 on. Their corners are outer edges of pixels.
 */
import type { Placement } from "./place-array.ts";

/** `HDFEOS/GRIDS/{grid}/Data Fields/{field}` */
const fieldName = /^HDFEOS\/GRIDS\/([^/]+)\/Data Fields\/([^/]+)$/;

export const isHdfEosField = (name: string): boolean => fieldName.test(name);

/** A text is the reason why the field has no place. */
export function placeHdfEos(metadata: string, name: string): Placement | string {
  const [, gridName = "", field = ""] = fieldName.exec(name) ?? [];
  const grids = metadata.slice(0, mostText).split("\tGROUP=GRID_").slice(1);
  const grid = grids.find((each) => textOf(each, "GridName") === gridName);
  if (grid === undefined) return `HDF-EOS5 does not describe the grid "${gridName}".`;
  const [columns, rows] = [Number(textOf(grid, "XDim")), Number(textOf(grid, "YDim"))];
  const upperLeft = numbersOf(grid, "UpperLeftPointMtrs");
  const lowerRight = numbersOf(grid, "LowerRightMtrs");
  if (!(columns > 0) || !(rows > 0) || upperLeft.length !== 2 || lowerRight.length !== 2) {
    return `HDF-EOS5 does not say where the grid "${gridName}" lies.`;
  }
  const origin = textOf(grid, "GridOrigin") ?? upperLeftOrigin;
  const dimensions = listOf(grid.split(`DataFieldName="${field}"`)[1] ?? "", "DimList");
  if (origin !== upperLeftOrigin || dimensions.slice(-2).join() !== "YDim,XDim") {
    return `The grid "${gridName}" of HDF-EOS5 does not begin in its upper left corner, or not with its rows.`;
  }
  const projection = textOf(grid, "Projection") ?? "";
  const crs = definitionOf(projection, numbersOf(grid, "ProjParams"));
  if (crs === null) return `The projection ${projection} of HDF-EOS5 is not known here.`;
  // Degrees are packed: DDDMMMSSS.
  const unpack = crs === undefined ? unpackDegrees : (value: number) => value;
  const [west = NaN, north = NaN] = upperLeft.map(unpack);
  const [east = NaN, south = NaN] = lowerRight.map(unpack);
  const [dx, dy] = [(east - west) / columns, (south - north) / rows];
  if (!(dx > 0) || !(dy < 0)) return `The corners of the grid "${gridName}" are not in order.`;
  return { transform: [dx, 0, west, 0, dy, north], crs, turn: undefined };
}

const mostText = 1_000_000;
const upperLeftOrigin = "HE5_HDFE_GD_UL";

/** Null: unknown; undefined: longitude and latitude. */
function definitionOf(
  projection: string,
  parameters: readonly number[],
): string | null | undefined {
  if (projection === "HE5_GCTP_GEO") return undefined;
  const [radius = 0, second = 0, , , meridian = 0, , easting = 0, northing = 0] = parameters;
  if (projection !== "HE5_GCTP_SNSOID" || !(radius > 0) || second !== 0) return null;
  return `+proj=sinu +lon_0=${unpackDegrees(meridian)} +x_0=${easting} +y_0=${northing} +R=${radius} +units=m +no_defs`;
}

function unpackDegrees(packed: number): number {
  const size = Math.abs(packed);
  const degrees = Math.floor(size / 1e6);
  const minutes = Math.floor((size - degrees * 1e6) / 1000);
  const seconds = size - degrees * 1e6 - minutes * 1000;
  return Math.sign(packed) * (degrees + minutes / 60 + seconds / 3600);
}

/** Line by line, because the text is the submitter's: no expression looks back in it. */
function textOf(group: string, key: string): string | undefined {
  const lines = group.split("\n").map((line) => line.trim());
  const found = lines.find((line) => line.startsWith(`${key}=`));
  return found?.slice(key.length + 1).replace(/^"(.*)"$/, "$1");
}

const listOf = (group: string, key: string): string[] =>
  (textOf(group, key) ?? "")
    .replace(/^\((.*)\)$/, "$1")
    .split(",")
    .map((part) => part.trim().replace(/^"(.*)"$/, "$1"))
    .filter((part) => part !== "");

const numbersOf = (group: string, key: string): number[] => listOf(group, key).map(Number);
