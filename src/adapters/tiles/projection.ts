import type { Converter } from "proj4";
import proj4 from "proj4";
import { findKnownSystem } from "./known-systems.ts";
import { Problem } from "../../core/errors.ts";
import type { Project } from "../../core/serving/pixel-map.ts";
import { mostLatitude, toDegrees, toMercator } from "../../core/serving/web-mercator.ts";

export interface Projection {
  readonly isWebMercator: boolean;
  /** Meridians and parallels are straight lines in it. */
  readonly isStraight: boolean;
  readonly toDegrees: Project;
  readonly fromDegrees: Project;
}

/** Longitude and latitude of WGS 84, and systems that differ from it by less than a pixel of any map. */
const likeWgs84 = new Set([4326, 4258, 4269, 4283, 4674, 6318]);

/** proj4 knows UTM and a few more by number; the others need their definition. */
export function makeProjection(code: number | undefined, wkt2: string | undefined): Projection {
  if (code !== undefined && likeWgs84.has(code)) {
    const same: Project = (x, y) => [x, y];
    return { isWebMercator: false, isStraight: true, toDegrees: same, fromDegrees: same };
  }
  // By hand: proj4 folds longitudes into one turn, and a raster may run on past it.
  if (code === 3857) {
    const fromDegrees: Project = (lon, lat) =>
      Math.abs(lat) > mostLatitude ? undefined : toMercator(lon, lat);
    return { isWebMercator: true, isStraight: true, toDegrees, fromDegrees };
  }
  const name = `EPSG:${code ?? ""}`;
  const definition = isKnown(name) ? name : (findKnownSystem(code ?? 0) ?? wkt2);
  if (definition === undefined) {
    throw new Problem(
      "LAYER_UNREADABLE",
      `${code === undefined ? "Its coordinate reference system" : name} is not known here, and the catalogue has no definition of it. Ingest it again with target_crs EPSG:3857 or EPSG:4326.`,
    );
  }
  const converter = open(definition);
  const isGeographic = isLongLat(definition);
  return {
    isWebMercator: false,
    isStraight: isGeographic,
    toDegrees: (x, y) => guard(() => converter.inverse([x, y])),
    fromDegrees: (lon, lat) => {
      const found = guard(() => converter.forward([lon, lat]));
      if (!isGeographic || found === undefined) return found;
      return [found[0] + 360 * Math.round((lon - found[0]) / 360), found[1]];
    },
  };
}

function open(definition: string): Converter {
  try {
    return proj4("EPSG:4326", definition);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Problem("LAYER_UNREADABLE", `Its coordinate reference system: ${reason}.`);
  }
}

function isKnown(name: string): boolean {
  return (proj4.defs(name) as unknown) !== undefined;
}

function isLongLat(definition: string): boolean {
  return /^\s*(GEOGCRS|GEOGCS|GEODCRS|BASEGEOGCRS)\b/i.test(definition);
}

/** Some projections throw where they have no answer, others answer with infinity. */
function guard(project: () => readonly number[]): readonly [number, number] | undefined {
  let found: readonly number[];
  try {
    found = project();
  } catch {
    return undefined;
  }
  const [x = NaN, y = NaN] = found;
  return Number.isFinite(x) && Number.isFinite(y) ? [x, y] : undefined;
}
