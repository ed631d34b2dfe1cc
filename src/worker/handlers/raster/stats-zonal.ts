import { readFile } from "node:fs/promises";
import { allFeatures } from "../../../adapters/postgres/queries/all-features.ts";
import { findGeoTable } from "../../../adapters/postgres/queries/geo-tables.ts";
import { makeProjection } from "../../../adapters/tiles/projection.ts";
import type { RasterFile } from "../../../adapters/tiles/raster-file.ts";
import { fitsSingle } from "../../../adapters/tiles/raster-file.ts";
import { createBlockCache } from "../../../adapters/tiles/read-window.ts";
import { tallyZones } from "../../../adapters/tiles/tally-zones.ts";
import type { RasterCrs } from "../../../core/raster/facts.ts";
import { readWkb } from "../../../core/vector/read-wkb.ts";
import { toGeoJson } from "../../../core/vector/geojson.ts";
import { createTally } from "../../../core/zonal/tally.ts";
import type { PixelGrid } from "../../../core/zonal/to-pixels.ts";
import { toPixelRings } from "../../../core/zonal/to-pixels.ts";
import type { Area } from "../../../core/zonal/zones.ts";
import { readAreas } from "../../../core/zonal/zones.ts";
import { defineHandler } from "../../define-handler.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";
import { requireDatabase } from "../require-database.ts";
import { copyBoundary } from "./boundary.ts";
import { openPixels } from "./open-pixels.ts";
import { readCrs, runGdal, temporaryFile } from "./run-gdal.ts";

/** More of them belong into the tasks of a fan-out. */
const mostZones = 10_000;
/** The parts that are read follow the blocks of one band: no block is read twice. */
const blockCacheBytes = 8 * 1024 * 1024;

/**
 * Handler stats_zonal. Each pixel counts by the exact share of it that lies in the area: see
 * core/zonal. The areas are projected into the raster, and no pixel is resampled.
 */
export const statsZonal = defineHandler("stats_zonal", async (params, context) => {
  const { zones: given, zones_crs, zones_table, band, statistics } = params;
  const areas = await readZones(context, given ?? undefined, zones_table ?? undefined);
  const pixels = await openPixels(context, params);
  try {
    const isOwnCrs = zones_table == null && typeof given !== "string";
    const grid = isOwnCrs ? await gridFor(context, pixels, zones_crs) : pixels.raster;
    const zones = areas.map(({ polygons }, index) => {
      const tally = createTally(statistics, fitsSingle(pixels.raster.sampleType));
      const rings = polygons.flatMap((polygon) => toPixelRings(polygon, grid) ?? outside(index));
      return { rings, tally, tallies: () => [tally] };
    });
    await tallyZones(pixels.raster, zones, {
      bands: [band],
      signal: context.signal,
      blocks: createBlockCache(blockCacheBytes),
      onPart: (done) => {
        context.progress(100 * done, `${areas.length} areas`);
      },
    });
    const results = zones.map(({ tally }, index) => {
      const { count, sum, mean, min, max, stdev: std, ...asked } = tally.result();
      return {
        index,
        properties: areas[index]?.properties ?? {},
        count,
        sum,
        mean,
        min,
        max,
        std,
        ...(statistics.includes("median") && { median: asked.median }),
        ...(statistics.includes("majority") && { majority: asked.majority }),
        ...(statistics.includes("histogram") && { histogram: Object.fromEntries(asked.histogram) }),
      };
    });
    const { display } = pixels.source;
    return { blob_path: display, band, count: results.length, zones: results };
  } finally {
    await pixels.close();
  }
});

function outside(index: number): never {
  throw new PermanentError(
    `Area ${index} has no place in the raster's coordinate reference system. Cut it to the part of the world that the raster covers.`,
    { code: "ZONES_NOT_USABLE" },
  );
}

async function readZones(
  context: HandlerContext,
  given: string | object | undefined,
  table: string | undefined,
): Promise<readonly Area[]> {
  const value =
    table !== undefined
      ? await readTable(context, table)
      : typeof given === "string"
        ? await readVectorFile(context, given)
        : given;
  const areas = readAreas(value);
  const count = typeof areas === "string" ? 0 : areas.length;
  if (typeof areas !== "string" && count > 0 && count <= mostZones) return areas;
  const text =
    typeof areas === "string"
      ? areas
      : `There are ${count} areas; one to ${mostZones} can be computed in one task.`;
  throw new PermanentError(text, { code: "ZONES_NOT_USABLE" });
}

async function readVectorFile(context: HandlerContext, path: string): Promise<unknown> {
  const copy = await copyBoundary(context, path);
  const file = temporaryFile(context, "zones.geojson");
  const args = ["-q", "-f", "GeoJSON", "-t_srs", "EPSG:4326", file, copy];
  await runGdal(context, "ogr2ogr", args, { drivers: ["GPKG", "GeoJSON"] });
  return JSON.parse(await readFile(file, "utf8"));
}

/** The features of a published layer. */
async function readTable(context: HandlerContext, name: string): Promise<unknown> {
  const database = requireDatabase(context);
  const table = await findGeoTable(database, name);
  if (table === undefined) {
    throw new PermanentError(`There is no layer "${name}".`, { code: "LAYER_NOT_FOUND" });
  }
  const features: object[] = [];
  for await (const rows of allFeatures(database, table, context.signal)) {
    for (const { wkb, properties } of rows) {
      const geometry = toGeoJson(readWkb(wkb));
      features.push({ type: "Feature", properties, geometry });
    }
    if (features.length > mostZones) break;
  }
  return { type: "FeatureCollection", features };
}

/** Edges are straight in the system of the areas; in the raster's own they stay as they are. */
async function gridFor(
  context: HandlerContext,
  { crs, raster }: { readonly crs: RasterCrs; readonly raster: RasterFile },
  zonesCrs: string,
): Promise<PixelGrid> {
  if (/^(EPSG:4326|OGC:CRS84)$/i.test(zonesCrs)) return raster;
  const given = await readCrs(context, zonesCrs);
  const isSame = given.code === null ? given.wkt2 === crs.wkt2 : given.code === crs.code;
  if (isSame) return { ...raster, isPlanar: true, fromDegrees: (x, y) => [x, y] };
  const code = /^EPSG:(\d+)$/.exec(given.code ?? "")?.[1];
  const { toDegrees } = makeProjection(code === undefined ? undefined : Number(code), given.wkt2);
  return {
    ...raster,
    isPlanar: true,
    fromDegrees: (x, y) => {
      const place = toDegrees(x, y);
      return place && raster.fromDegrees(place[0], place[1]);
    },
  };
}
