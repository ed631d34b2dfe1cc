import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import path from "node:path";
import { ensureSpace } from "../../../adapters/gdal/ensure-space.ts";
import { hasPostgis } from "../../../adapters/postgres/queries/geo-tables.ts";
import type { TableToLoad } from "../../../adapters/postgres/repositories/geo-loads.ts";
import { beginLoad } from "../../../adapters/postgres/repositories/geo-loads.ts";
import { unite, multiType } from "../../../core/vector/parts.ts";
import { nameColumns, nameTable } from "../../../core/vector/column-names.ts";
import type { Tally, VectorFinding } from "../../../core/vector/findings.ts";
import {
  emptyColumnsFinding,
  renamedColumnsFinding,
  splitTablesFinding,
} from "../../../core/vector/findings.ts";
import type { GeoColumn } from "../../../core/vector/geo-table.ts";
import type { Kind } from "../../../core/vector/parts.ts";
import type { LayerFacts } from "../../../core/vector/read-ogrinfo.ts";
import { isCsv } from "../../../core/vector/source-format.ts";
import { defineHandler } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";
import { hashSource } from "../hash-content.ts";
import { requireDatabase } from "../require-database.ts";
import { ChunkWriter, chunkPrefix } from "./chunk-writer.ts";
import type { WrittenKind } from "./chunk-writer.ts";
import { decideCrs } from "./decide-crs.ts";
import { fetchSource } from "./fetch-source.ts";
import { inspectSource } from "./inspect-source.ts";
import { hasDegreeColumns, openOptions, readHeader } from "./gdal-options.ts";
import { readFeatures } from "./read-features.ts";
import { writeLayer } from "./write-layer.ts";

const suffixes = {
  point: "_points",
  line: "_lines",
  polygon: "_polygons",
} as const satisfies Record<Kind, string>;

/**
 * Disk needed, as a multiple of the source: the dump with the rows as text, and the chunks made of
 * it.
 */
const spaceFactor = 3;

/**
 * Handler vector_prepare: turns a file into chunks for COPY. Before the last step, which records
 * the load, it asks the database only whether it has PostGIS.
 */
export const prepareVector = defineHandler("vector_prepare", async (params, context) => {
  const database = requireDatabase(context);
  const form = (await hasPostgis(database)) ? "postgis" : "wkb";
  context.progress(1, "fetching the file");
  const source = await fetchSource(params, context);
  const options = await openOptions(source, params);
  const header = isCsv(source.format) ? await readHeader(source.file) : [];
  const layer = await inspectSource(source, options, { wanted: params.layer, header }, context);
  const given = {
    source_crs: params.source_crs,
    hasDegreeColumns: hasDegreeColumns(header, params),
  };
  const { assign, findings } = await decideCrs(source, layer, given, context);

  // GDAL may not report a full disk and write half a file, so free space is checked before and
  // after.
  await ensureSpace(context.workDir, spaceFactor * (await stat(source.file)).size);
  context.progress(10, "looking at every feature");
  const found = { file: source.file, openArgs: options.args, layer };
  const { survey, dump } = await readFeatures({ ...found, assignCrs: assign }, context);
  await ensureSpace(context.workDir, 0);
  if (survey.featureCount === 0) throw refuseEmpty(layer, []);

  context.progress(50, "writing chunks");
  const name = params.table_name ?? nameTable(source.name);
  const loadId = createHash("sha256")
    .update(`${context.job_id}|${name}`)
    .digest("hex")
    .slice(0, 16);
  const writer = new ChunkWriter({
    folder: path.join(context.workDir, "chunks"),
    storage: context.storage,
    prefix: chunkPrefix(loadId),
    form,
    chunkSize: params.chunk_size,
    signal: context.signal,
  });
  const { columns: kept, tally } = await writeLayer(dump, survey, writer, context);
  const written = await writer.finish();
  if (written.length === 0) throw refuseEmpty(layer, tally.findings(), tally);
  if (isMeasured(layer)) {
    tally.add("DIMENSIONS_REDUCED", survey.featureCount - tally.get("GEOMETRY_NULL"));
  }

  const columns = nameColumns(kept.map((column) => column.name)).map((named, index): GeoColumn => ({
    ...named,
    type: kept[index]?.type ?? "text",
  }));
  const tables = nameTables(written, name, columns);
  await beginLoad(database, { load_id: loadId, job_id: context.job_id, form, tables });
  const [first] = tables;
  if (first === undefined) throw new Error("a load has a table");
  return {
    load_id: loadId,
    table_name: first.table_name,
    content_hash: await hashSource(source.received, context.signal),
    tables: tables.map(({ table_name, geometry_type, feature_count, bounds, chunk_count }) => ({
      table_name,
      geometry_type,
      feature_count,
      bounds,
      chunk_count,
    })),
    chunks: writer.chunks.map(({ kind, ...chunk }) => ({
      ...chunk,
      load_id: loadId,
      table_name: tables.find((table) => table.kind === kind)?.table_name ?? name,
    })),
    chunk_count: writer.chunks.length,
    feature_count: tables.reduce((sum, table) => sum + table.feature_count, 0),
    source_feature_count: survey.featureCount,
    geometry_type: first.geometry_type,
    crs: "EPSG:4326",
    bounds: tables.map((table) => table.bounds ?? undefined).reduce(unite) ?? null,
    columns,
    findings: [
      ...findings,
      ...options.findings,
      ...tally.findings(),
      ...emptyColumnsFinding([...survey.emptyColumns]),
      ...renamedColumnsFinding(columns),
      ...splitTablesFinding(tables.map((table) => table.table_name)),
    ],
  };
});

function nameTables(
  written: readonly WrittenKind[],
  name: string,
  columns: readonly GeoColumn[],
): (TableToLoad & { readonly kind: Kind })[] {
  return written.map(({ kind, feature_count, bounds, chunk_count }) => ({
    kind,
    table_name: written.length === 1 ? name : name + suffixes[kind],
    geometry_type: multiType[kind],
    columns,
    feature_count,
    bounds: bounds ?? null,
    chunk_count,
  }));
}

function isMeasured({ geometryType }: LayerFacts): boolean {
  return /^3D |Measured /.test(geometryType);
}

function refuseEmpty(layer: LayerFacts, findings: readonly VectorFinding[], tally?: Tally) {
  const details = { findings: findings.map((finding) => ({ ...finding })) };
  if ((tally?.get("COORDINATES_OUT_OF_RANGE") ?? 0) > 0) {
    return new PermanentError(
      "The file says that its coordinates are longitudes and latitudes, and they are not: submit again with the right source_crs.",
      { code: "COORDINATES_OUT_OF_RANGE", details },
    );
  }
  const reasons = findings.map((finding) => finding.message).join(" ");
  return new PermanentError(
    `The layer "${layer.name}" has no feature that can be shown. ${reasons}`.trim(),
    { code: "NO_FEATURES", details },
  );
}
