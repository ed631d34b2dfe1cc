import { chunksIn } from "../../../adapters/h3/chunks.ts";
import { ownerOfJob } from "../../../adapters/postgres/queries/catalogue-owners.ts";
import { findH3VectorSource } from "../../../adapters/postgres/queries/h3.ts";
import { saveH3VectorSource } from "../../../adapters/postgres/repositories/h3.ts";
import type { H3VectorSource } from "../../../core/h3/vector-configuration.ts";
import { h3VectorConfiguration, h3VectorSource } from "../../../core/h3/vector-configuration.ts";
import { defineHandler } from "../../define-handler.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";
import { requireDatabase } from "../require-database.ts";
import { temporaryFile } from "../raster/run-gdal.ts";
import { ownName, readConfiguration, refuseTakenName, withoutNull } from "./new-run.ts";
import { openFeatures, tablePlace } from "./open-features.ts";
import { recordRun } from "./record-run.ts";

/** Handler h3_discover_vector: what is to be computed, frozen, and the chunks of the fan-out. */
export const discoverVector = defineHandler("h3_discover_vector", async (params, context) => {
  const database = requireDatabase(context);
  const layer = ownName(params.layer, await ownerOfJob(database, context.job_id));
  await refuseTakenName(database, layer, "vector");
  const { table_name, blob_path } = params;
  const given = h3VectorSource.safeParse({ table_name, blob_path });
  const known = given.success ? undefined : await findH3VectorSource(database, layer);
  const source = given.data ?? known?.source;
  if (source === undefined) {
    const text = `Neither a layer nor a file is given, and none is recorded for "${layer}".`;
    throw new PermanentError(text, { code: "SOURCE_NOT_FOUND" });
  }
  const wanted = { ...known?.configuration, ...withoutNull(params.configuration ?? {}) };
  const asked = readConfiguration(h3VectorConfiguration, wanted);
  await saveH3VectorSource(database, layer, source, wanted);
  const place = await storeSource(context, source, layer);
  const features = await openFeatures(context, place);
  const { kinds, columns, bounds } = await features.describe();
  const geometry = asked.geometry ?? kinds[0];
  if (geometry === undefined || (asked.geometry == null && kinds.length > 1)) {
    const text = `"${layer}" has geometries of several kinds, or does not say of which: say geometry in the configuration.`;
    throw new PermanentError(text, { code: "CONFIGURATION_INVALID" });
  }
  for (const column of [asked.category, asked.weight]) {
    if (column == null || columns.includes(column)) continue;
    const text = `"${layer}" has no column "${column}": it has ${columns.join(", ")}.`;
    throw new PermanentError(text, { code: "COLUMN_NOT_FOUND" });
  }
  const configuration = { ...asked, geometry };
  const boxes = [bounds, ...(asked.bbox == null ? [] : [asked.bbox])];
  const ended = await recordRun(
    context,
    {
      kind: "vector",
      raster: layer,
      period: params.period ?? "static",
      configuration,
      origin: table_name == null && source.table_name == null ? (source.blob_path ?? place) : place,
      source_tag: features.tag,
      source_path: place,
      wkt2: "",
      bbox: bounds,
    },
    {
      cells: chunksIn(boxes, asked.land_only),
      nothing: `"${layer}" meets no cell that is asked for.`,
    },
  );
  return { layer, ...ended };
});

/** An https address is fetched into storage once, where it is read in parts. */
async function storeSource(
  context: HandlerContext,
  { table_name, blob_path }: H3VectorSource,
  layer: string,
): Promise<string> {
  if (table_name != null) return tablePlace(table_name);
  const source = await context.sources.resolve(blob_path ?? "", undefined);
  if (source.kind === "storage") return source.display;
  const file = temporaryFile(context, "source.parquet");
  await source.fetchTo(file, { signal: context.signal });
  const path = `silver/h3_sources/${layer}.parquet`;
  await context.storage.putFile(path, file, { signal: context.signal });
  return path;
}
