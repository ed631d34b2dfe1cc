import { createHash } from "node:crypto";
import { ensureSpace } from "../../../adapters/gdal/ensure-space.ts";
import { hasPostgis } from "../../../adapters/postgres/queries/geo-tables.ts";
import { beginLoad } from "../../../adapters/postgres/repositories/geo-loads.ts";
import { nameLayers, nameTable } from "../../../core/vector/column-names.ts";
import { emptyLayersFinding, ofLayer } from "../../../core/vector/findings.ts";
import { unite } from "../../../core/vector/parts.ts";
import { defineHandler } from "../../define-handler.ts";
import { hashSource } from "../hash-content.ts";
import { requireDatabase } from "../require-database.ts";
import { chunkPrefix } from "./chunk-writer.ts";
import type { SourceFile } from "./fetch-source.ts";
import { fetchSources, resolveSource } from "./fetch-source.ts";
import { keepDigits } from "./keep-digits.ts";
import { openSources } from "./open-sources.ts";
import { ofFile } from "./refuse-file.ts";
import { LayerEmpty, prepareLayer } from "./prepare-layer.ts";
import type { PreparedLayer } from "./prepare-layer.ts";

/**
 * Disk needed, as a multiple of the source: the dump with the rows as text, the chunks made of it, and
 * the parts of a file of lines.
 */
const spaceFactor = 4;

/**
 * Handler vector_prepare: turns the layers of a file into chunks for COPY. Before the last step,
 * which records the load, it asks the database only whether it has PostGIS.
 */
export const prepareVector = defineHandler("vector_prepare", async (params, context) => {
  const database = requireDatabase(context);
  const form = (await hasPostgis(database)) ? "postgis" : "wkb";
  context.progress(1, "fetching the file");
  const sources: SourceFile[] = [];
  const fetched = await fetchSources(params, context);
  for (const each of fetched.files) sources.push(await keepDigits(each));
  const [source] = sources;
  if (source === undefined) throw new Error("a submission has a file");
  // GDAL may not report a full disk and write half a file, so free space is checked before and
  // after.
  await ensureSpace(context.workDir, spaceFactor * source.bytes);
  const hashing = hashSource(source.received, context.signal);
  hashing.catch(() => undefined);
  const { layers, plain } = await openSources(sources, params, context);

  context.progress(10, "reading every feature");
  const name =
    params.table_name ?? nameTable(sources.length === 1 ? source.name : params.blob_path);
  const loadId = createHash("sha256")
    .update(`${context.job_id}|${name}`)
    .digest("hex")
    .slice(0, 16);
  const names =
    layers.length === 1
      ? [name]
      : nameLayers(
          name,
          layers.map(({ layer }) => layer.title),
        );
  const target = {
    form,
    prefix: chunkPrefix(loadId),
    chunkSize: params.chunk_size ?? 10_000,
  } as const;
  const prepared: PreparedLayer[] = [];
  const findings = [...fetched.findings];
  for (const { name: own, title = own, findings: found } of sources) {
    findings.push(...(sources.length === 1 ? found : ofLayer(title, found)));
  }
  const empty = [...plain];
  let refusal: LayerEmpty | undefined;
  for (const [index, { layer, source: own, context: ownContext }] of layers.entries()) {
    const firstIndex = prepared.reduce((sum, { chunks }) => sum + chunks.length, 0);
    const named = { name: names[index] ?? name, firstIndex, source_crs: params.source_crs };
    try {
      const done = await prepareLayer(layer, own, { ...target, ...named }, ownContext);
      prepared.push(done);
      findings.push(...(layers.length === 1 ? done.findings : ofLayer(layer.title, done.findings)));
    } catch (error) {
      if (!(error instanceof LayerEmpty)) {
        throw ofFile(sources.length > 1 ? layer.title : undefined, error);
      }
      refusal ??= error;
      empty.push(layer.title);
    }
  }
  await ensureSpace(context.workDir, 0);
  const [main] = prepared;
  const [first] = main?.tables ?? [];
  if (main === undefined || first === undefined) throw refusal ?? new Error("a file has a layer");
  const tables = prepared.flatMap((layer) => layer.tables);
  await beginLoad(database, { load_id: loadId, job_id: context.job_id, form, tables });
  const chunks = prepared.flatMap((layer) => layer.chunks);
  return {
    load_id: loadId,
    table_name: first.table_name,
    source_path: (await resolveSource(params, context)).display,
    content_hash: await hashing,
    tables: tables.map(({ table_name, geometry_type, feature_count, bounds, chunk_count }) => ({
      table_name,
      geometry_type,
      feature_count,
      bounds,
      chunk_count,
    })),
    chunks: chunks.map((chunk) => ({ ...chunk, load_id: loadId })),
    chunk_count: chunks.length,
    feature_count: tables.reduce((sum, table) => sum + table.feature_count, 0),
    source_feature_count: prepared.reduce((sum, layer) => sum + layer.sourceCount, 0),
    geometry_type: first.geometry_type,
    crs: "EPSG:4326",
    bounds: tables.map((table) => table.bounds ?? undefined).reduce(unite) ?? null,
    columns: first.columns.filter((column) => column.is_empty === undefined),
    transformations: Object.fromEntries(
      prepared.flatMap(({ tables: own, transformation }) =>
        transformation === undefined ? [] : own.map((each) => [each.table_name, transformation]),
      ),
    ),
    findings: [...findings, ...emptyLayersFinding(empty)],
  };
});
