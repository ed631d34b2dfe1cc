import type { Converter } from "proj4";
import proj4 from "proj4";
import { Problem } from "../../core/errors.ts";
import { isWebMercator } from "../../core/raster/crs.ts";
import type { DatumShift, ProjDefinition } from "../../core/raster/proj-definition.ts";
import { projDefinition } from "../../core/raster/proj-definition.ts";
import type { Project } from "../../core/serving/pixel-map.ts";
import { mostLatitude, toDegrees, toMercator } from "../../core/serving/web-mercator.ts";

export interface Projection {
  readonly isWebMercator: boolean;
  /** True: meridians and parallels are straight lines. */
  readonly isStraight: boolean;
  readonly toDegrees: Project;
  readonly fromDegrees: Project;
}

/** Longitude and latitude of WGS 84, and systems that differ from it by less than a pixel of any map. */
const likeWgs84 = new Set([4326, 4258, 4269, 4283, 4674, 6318]);

/**
 * By number where `knownSystems` has it, then by the definition in `wkt2`, then by proj4's own list
 * of numbers.
 */
export function makeProjection(
  code: number | undefined,
  wkt2: string | undefined,
  shift: DatumShift | null | undefined = null,
): Projection {
  if (code !== undefined && likeWgs84.has(code)) {
    const same: Project = (x, y) => [x, y];
    return { isWebMercator: false, isStraight: true, toDegrees: same, fromDegrees: same };
  }
  // Not by proj4, which folds longitudes into -180 to 180: a raster may cross the antimeridian.
  if (code === 3857 || (code === undefined && wkt2 !== undefined && isWebMercator(wkt2))) {
    const fromDegrees: Project = (lon, lat) =>
      Math.abs(lat) > mostLatitude ? undefined : toMercator(lon, lat);
    return { isWebMercator: true, isStraight: true, toDegrees, fromDegrees };
  }
  const known = findKnownSystem(code ?? 0);
  // A shift that was measured there is nearer than that of the list.
  if (known !== undefined && shift == null) return project(plain(known));
  const defined = wkt2 === undefined ? undefined : projDefinition(wkt2, shift ?? null);
  if (defined !== undefined) return project(defined);
  const name = `EPSG:${code ?? ""}`;
  if (isKnown(name)) return project(plain(name));
  const reason =
    wkt2 === undefined
      ? "is not known here, and the catalogue has no definition of it"
      : "has a projection that cannot be drawn here";
  throw new Problem(
    "LAYER_UNREADABLE",
    `${code === undefined ? "Its coordinate reference system" : name} ${reason}. Ingest it again with target_crs EPSG:3857 or EPSG:4326.`,
  );
}

function plain(text: string): ProjDefinition {
  return { text, isGeographic: false, unit: 1, axes: "east-north" };
}

function project({ text, isGeographic, unit, axes }: ProjDefinition): Projection {
  const converter = open(text);
  return {
    isWebMercator: false,
    isStraight: isGeographic,
    toDegrees: (x, y) => {
      const found = guard(() => converter.inverse(toEastNorth([x * unit, y * unit], axes)));
      if (!isGeographic || found === undefined) return found;
      return [nearTo(x * unit, found[0]), found[1]];
    },
    fromDegrees: (lon, lat) => {
      const found = guard(() => converter.forward([lon, lat]));
      if (found === undefined) return undefined;
      if (!isGeographic) return fromEastNorth(found, axes);
      return [nearTo(lon, found[0]) / unit, found[1] / unit];
    },
  };
}

/** The same longitude by whole turns, as near as possible to the given one. */
function nearTo(given: number, longitude: number): number {
  return longitude + 360 * Math.round((given - longitude) / 360);
}

function toEastNorth([x, y]: [number, number], axes: ProjDefinition["axes"]): [number, number] {
  if (axes === "west-south") return [-x, -y];
  return axes === "south-west" ? [-y, -x] : [x, y];
}

/** Both orders are their own inverse. */
function fromEastNorth(
  [x, y]: readonly [number, number],
  axes: ProjDefinition["axes"],
): readonly [number, number] {
  return toEastNorth([x, y], axes);
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

/** Undefined where the projection has no answer: some throw there, others give infinity. */
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

const laea = "+proj=laea +lat_0=52 +lon_0=10 +x_0=4321000 +y_0=3210000 +ellps=GRS80 +units=m";
const swiss = "+proj=somerc +lat_0=46.9524055555556 +lon_0=7.43958333333333 +k_0=1 +ellps=bessel";
const swissShift = "+towgs84=674.374,15.056,405.346,0,0,0,0 +units=m";
const albers = "+proj=aea +lat_0=23 +lon_0=-96 +lat_1=29.5 +lat_2=45.5 +ellps=GRS80 +units=m";

/**
 * Systems that public agencies use for rasters, beside those that proj4 knows by number (web
 * mercator, UTM on WGS 84, polar UPS), with their datum shifts. Any other system needs its WKT in the
 * catalogue.
 */
const knownSystems = new Map<number, string>([
  [2056, `${swiss} +x_0=2600000 +y_0=1200000 ${swissShift}`],
  [21781, `${swiss} +x_0=600000 +y_0=200000 ${swissShift}`],
  [3035, laea],
  [
    3034,
    "+proj=lcc +lat_0=52 +lon_0=10 +lat_1=35 +lat_2=65 +x_0=4000000 +y_0=2800000 +ellps=GRS80",
  ],
  [
    2154,
    "+proj=lcc +lat_0=46.5 +lon_0=3 +lat_1=49 +lat_2=44 +x_0=700000 +y_0=6600000 +ellps=GRS80",
  ],
  [
    27700,
    "+proj=tmerc +lat_0=49 +lon_0=-2 +k=0.9996012717 +x_0=400000 +y_0=-100000 +ellps=airy +towgs84=446.448,-125.157,542.06,0.15,0.247,0.842,-20.489 +units=m",
  ],
  [
    28992,
    "+proj=sterea +lat_0=52.1561605555556 +lon_0=5.38763888888889 +k=0.9999079 +x_0=155000 +y_0=463000 +ellps=bessel +towgs84=565.4171,50.3319,465.5524,-0.398957,0.343988,-1.8774,4.0725 +units=m",
  ],
  [3031, "+proj=stere +lat_0=-90 +lat_ts=-71 +lon_0=0 +ellps=WGS84 +units=m"],
  [3413, "+proj=stere +lat_0=90 +lat_ts=70 +lon_0=-45 +ellps=WGS84 +units=m"],
  [3395, "+proj=merc +lon_0=0 +k=1 +ellps=WGS84 +units=m"],
  [5070, albers],
  [3577, "+proj=aea +lat_0=0 +lon_0=132 +lat_1=-18 +lat_2=-36 +ellps=GRS80 +units=m"],
  [3979, "+proj=lcc +lat_0=49 +lon_0=-95 +lat_1=49 +lat_2=77 +ellps=GRS80 +units=m"],
  [2193, "+proj=tmerc +lat_0=0 +lon_0=173 +k=0.9996 +x_0=1600000 +y_0=10000000 +ellps=GRS80"],
  [6933, "+proj=cea +lat_ts=30 +lon_0=0 +ellps=WGS84 +units=m"],
]);

/** UTM on ETRS89 and on NAD83, which differ from WGS 84 by less than a pixel of any map. */
const utmFamilies = [
  { from: 25828, to: 25838, firstZone: 28 },
  { from: 26901, to: 26923, firstZone: 1 },
];

function findKnownSystem(code: number): string | undefined {
  const family = utmFamilies.find(({ from, to }) => code >= from && code <= to);
  if (family === undefined) {
    const definition = knownSystems.get(code);
    // proj4 takes missing offsets as NaN, and every coordinate with them.
    if (definition === undefined || definition.includes("+x_0=")) return definition;
    return `${definition} +x_0=0 +y_0=0`;
  }
  return `+proj=utm +zone=${code - family.from + family.firstZone} +ellps=GRS80 +units=m`;
}
