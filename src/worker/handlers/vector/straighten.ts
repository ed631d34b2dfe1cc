/**
 * Makes straight lines of arcs in the file's own coordinates, and projects them then. The other way
 * round, as GDAL does it, a circle becomes two arcs through three projected points, which is another
 * shape.
 */
import { open } from "node:fs/promises";
import path from "node:path";
import type { Parts } from "../../../core/vector/parts.ts";
import { doubleCoordinates, halfDegreesWkt } from "../../../core/vector/half-degrees.ts";
import { readWkb } from "../../../core/vector/read-wkb.ts";
import { toGeoJson } from "../../../core/vector/geojson.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { convertLayer } from "./convert-layer.ts";
import type { PlacedLayer } from "./convert-layer.ts";
import { runOptions } from "./gdal-options.ts";
import { dumpOptions, openDump } from "./open-dump.ts";

export interface Curved {
  readonly fid: number;
}

/** Yields a geometry for each of these features, in their order; undefined: it cannot be projected. */
export async function* straighten(
  source: PlacedLayer,
  name: string,
  curved: readonly Curved[],
  context: HandlerContext,
): AsyncGenerator<Parts | undefined> {
  const numbers = new Map(curved.map(({ fid }, index) => [fid, index]));
  const file = path.join(context.workDir, `curves-${name}.geojsonl`);
  const handle = await open(file, "w");
  let count = 0;
  try {
    const whole = convertLayer({ ...source, isProjected: false }, `${name}-curves`, context);
    for await (const rows of openDump(whole, context.signal)) {
      for (const { fid, geometry } of rows) {
        const n = numbers.get(fid);
        if (n === undefined || geometry === undefined) continue;
        const feature = {
          type: "Feature",
          properties: { n },
          geometry: toGeoJson(readWkb(geometry)),
        };
        await handle.write(`${JSON.stringify(feature)}\n`);
        count += 1;
      }
    }
  } finally {
    await handle.close();
  }
  const projected = await project(file, count, source, context);
  for (const index of curved.keys()) yield projected.get(index);
}

async function project(
  file: string,
  count: number,
  { assignCrs, layer, isHalving }: PlacedLayer,
  context: HandlerContext,
): Promise<Map<number, Parts>> {
  const driver = count > 1 ? "GeoJSONSeq" : "GeoJSON";
  const crs = assignCrs ?? layer.crsWkt ?? "EPSG:4326";
  const dump = `${file}.sql`;
  const target = isHalving ? halfDegreesWkt : "EPSG:4326";
  const options = ["-nlt", "GEOMETRY", "-skipfailures", "-s_srs", crs, "-t_srs", target];
  const args = [...dumpOptions, ...options, dump, file];
  await context.gdal.run("ogr2ogr", args, runOptions(context, [driver, "PGDUMP"]));
  const found = new Map<number, Parts>();
  for await (const rows of openDump({ path: dump }, context.signal)) {
    for (const { geometry, attributes } of rows) {
      if (geometry === undefined) continue;
      const read = readWkb(geometry);
      found.set(Number(attributes.toString()), isHalving ? doubleCoordinates(read) : read);
    }
  }
  return found;
}
