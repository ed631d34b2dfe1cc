import path from "node:path";
import type { TableToLoad } from "../../../adapters/postgres/repositories/geo-loads.ts";
import { nameColumns } from "../../../core/vector/column-names.ts";
import type { Tally, VectorFinding } from "../../../core/vector/findings.ts";
import {
  countClaimedFinding,
  emptyColumnsFinding,
  renamedColumnsFinding,
  roundedColumnsFinding,
  splitTablesFinding,
  transformationFinding,
} from "../../../core/vector/findings.ts";
import type { GeoColumn, GeometryForm } from "../../../core/vector/geo-table.ts";
import type { Kind } from "../../../core/vector/parts.ts";
import type { Transformation } from "../../../core/raster/transformation.ts";
import { multiType, unite } from "../../../core/vector/parts.ts";
import { isGeoPackage, isGml, isShapefile } from "../../../core/vector/source-format.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";
import { partOfTask } from "../../part-of-task.ts";
import { findTransformationAt, warnOfTransformation } from "../assess-transformation.ts";
import { ChunkWriter } from "./chunk-writer.ts";
import type { WrittenKind } from "./chunk-writer.ts";
import type { PlacedLayer } from "./convert-layer.ts";
import { decideCrs } from "./decide-crs.ts";
import type { SourceFile } from "./fetch-source.ts";
import { isHalving as isHalvingFrom } from "./find-halving.ts";
import type { SourceLayer } from "./open-layers.ts";
import { openRows } from "./open-rows.ts";
import { straighten } from "./straighten.ts";
import { writeLayer } from "./write-layer.ts";
import type { WrittenLayer } from "./write-layer.ts";

const suffixes = {
  point: "_points",
  line: "_lines",
  polygon: "_polygons",
} as const satisfies Record<Kind, string>;

export interface PreparedLayer {
  readonly tables: readonly TableToLoad[];
  readonly chunks: readonly {
    readonly index: number;
    readonly blob_path: string;
    readonly feature_count: number;
    readonly table_name: string;
  }[];
  readonly sourceCount: number;
  /** How the features were brought to WGS 84. Undefined: they were in it. */
  readonly transformation: Transformation | undefined;
  readonly findings: readonly VectorFinding[];
}

/** A layer has no feature that can be shown. */
export class LayerEmpty extends PermanentError {}

export interface LayerTarget {
  readonly name: string;
  readonly form: GeometryForm;
  readonly prefix: string;
  readonly chunkSize: number;
  readonly firstIndex: number;
  readonly source_crs: string | null | undefined;
}

/** Writes the chunks of one layer, and says which tables they fill. */
export async function prepareLayer(
  layer: SourceLayer,
  source: SourceFile,
  target: LayerTarget,
  context: HandlerContext,
): Promise<PreparedLayer> {
  try {
    return await convertAndWrite(layer, source, target, context);
  } catch (error) {
    await layer.inspect?.();
    throw error;
  }
}

async function convertAndWrite(
  guessed: SourceLayer,
  source: SourceFile,
  target: LayerTarget,
  context: HandlerContext,
): Promise<PreparedLayer> {
  const { name, source_crs } = target;
  const given = { source_crs, hasDegreeColumns: guessed.hasDegreeColumns };
  const crs = await decideCrs(guessed, given, context);
  const system = crs.assign ?? guessed.layer.crsWkt ?? "EPSG:4326";
  const isHalving = await isHalvingFrom(system, context);
  const begin = (layer: SourceLayer) => {
    // The type of such a layer does not tell of heights. Those of JSON were looked for.
    const keepsHeights =
      layer.layer.geometryType === "Unknown (any)" && source.hasHeights === undefined;
    const placed = { ...layer, assignCrs: crs.assign, isHalving, keepsHeights };
    return beginWriting(placed, source, target, context);
  };
  const { layer, writer, written, kinds } = await writeChecked(guessed, begin);
  const claimed = layer.layer.featureCount;
  const { tally } = written;
  const sourceCount = countFeatures(written, claimed, source.bytes);
  if (sourceCount > written.seen) tally.add("FEATURES_UNREADABLE", sourceCount - written.seen);
  // GDAL writes two dimensions of these, so that only the layer's type and the text of JSON tell of more.
  if (/^3D |Measured /.test(layer.layer.geometryType) || source.hasHeights === true) {
    tally.add("DIMENSIONS_REDUCED", written.seen - tally.get("GEOMETRY_NULL"));
  }
  if (kinds.length === 0) throw refuseEmpty(layer.title, tally);

  // GDAL from 3.7 on gives the box around a feature of GML as two attributes.
  const isEnvelope = (own: string) => isGml(layer.format) && /^(?:lower|upper)Corner$/.test(own);
  const columns = nameColumns(written.columns.map((column) => column.name)).map(
    (named, index): GeoColumn => ({
      ...named,
      type: layer.types.get(named.source) ?? written.columns[index]?.type ?? "text",
      ...(written.columns[index]?.isEmpty === true || isEnvelope(named.source)
        ? { is_empty: true }
        : {}),
    }),
  );
  const tables = nameTables(kinds, name, columns);
  const used = await findUsed(tables, system, context);
  const warning = warnOfTransformation(used);
  const isEmpty = (column: GeoColumn) => column.is_empty === true;
  const isClaimWrong = Number.isFinite(claimed) && claimed !== sourceCount;
  return {
    tables,
    chunks: writer.chunks.map(({ kind, ...chunk }) => ({
      ...chunk,
      table_name: tables.find((table) => table.kind === kind)?.table_name ?? name,
    })),
    sourceCount,
    transformation: used,
    findings: [
      ...crs.findings,
      ...(warning === undefined ? [] : [transformationFinding(warning.code, warning.text)]),
      ...layer.findings,
      ...tally.findings(),
      ...(isClaimWrong ? [countClaimedFinding(claimed, sourceCount)] : []),
      ...roundedColumnsFinding(
        columns.filter(({ source: own, type }) => {
          return type === "double precision" && source.longKeys?.has(own) === true;
        }),
      ),
      ...emptyColumnsFinding(
        columns.filter(isEmpty).flatMap(({ source: own }) => (isEnvelope(own) ? [] : [own])),
      ),
      ...renamedColumnsFinding(columns.filter((column) => !isEmpty(column))),
      ...splitTablesFinding(tables.map((table) => table.table_name)),
    ],
  };
}

interface Writing {
  readonly done: Promise<{
    readonly layer: SourceLayer;
    readonly writer: ChunkWriter;
    readonly written: WrittenLayer;
    readonly kinds: readonly WrittenKind[];
  }>;
  /** Ends it, and removes what it has written. */
  discard(): Promise<void>;
}

function beginWriting(
  layer: SourceLayer & PlacedLayer,
  source: SourceFile,
  { name, form, prefix, chunkSize, firstIndex }: LayerTarget,
  context: HandlerContext,
): Writing {
  const stopped = new AbortController();
  const signal = AbortSignal.any([context.signal, stopped.signal]);
  const part = partOfTask(context, { signal });
  const cut = { lines: source.lines, isGeoPackage: isGeoPackage(layer.format) };
  const rows = openRows(layer, name, cut, part);
  const folder = path.join(context.workDir, `chunks-${name}`);
  const { storage } = context;
  const writer = new ChunkWriter({ folder, storage, prefix, form, chunkSize, firstIndex, signal });
  const { isText = false } = source.format;
  const write = async () => {
    const written = await writeLayer(
      {
        name,
        rows,
        isUntyped: layer.format.isUntyped === true,
        rawColumns: layer.rawColumns,
        canChooseEncoding: isText || isShapefile(source.format),
        claimedCount: layer.layer.featureCount,
        straighten: (curved) => straighten(layer, name, curved, part),
      },
      writer,
      part,
    );
    return { layer, writer, written, kinds: await writer.finish() };
  };
  const done = write();
  done.catch(() => undefined);
  const discard = async () => {
    stopped.abort(new Error("The rows are no longer wanted."));
    await Promise.allSettled([done]);
    await rows.discard();
    await writer.discard();
  };
  return { done, discard };
}

/**
 * Reads and writes a layer by the guess while its values are looked at, and once more if the guess was
 * wrong.
 */
async function writeChecked(
  guessed: SourceLayer,
  begin: (layer: SourceLayer) => Writing,
): Promise<Awaited<Writing["done"]>> {
  const early = begin(guessed);
  const checked = await guessed.checkValues?.().catch(async (error: unknown) => {
    await early.discard();
    throw error;
  });
  if (checked === undefined) return early.done;
  await early.discard();
  return begin(checked).done;
}

const isWgs84 = /^(?:EPSG:4326|OGC:CRS84|GEOG\w*\["WGS 84")/i;

/** The operation that PROJ uses in the middle of the layer. */
async function findUsed(
  tables: readonly TableToLoad[],
  crs: string,
  context: HandlerContext,
): Promise<Transformation | undefined> {
  const bounds = tables.map((table) => table.bounds ?? undefined).reduce(unite);
  if (bounds === undefined || isWgs84.test(crs)) return undefined;
  const [west, south, east, north] = bounds;
  return findTransformationAt(context, crs, [(west + east) / 2, (south + north) / 2]);
}

/**
 * The features of the source: those that GDAL gave, and those that it skipped. A header may claim
 * any number; more features than the file has bytes are not skipped but never were.
 */
function countFeatures({ seen }: WrittenLayer, claimed: number, bytes: number): number {
  return Number.isFinite(claimed) && claimed > seen && claimed <= bytes ? claimed : seen;
}

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
    bounds,
    chunk_count,
  }));
}

function refuseEmpty(title: string, tally: Tally): LayerEmpty {
  const findings = tally.findings();
  const details = { findings: findings.map((finding) => ({ ...finding })) };
  if (tally.get("COORDINATES_OUT_OF_RANGE") > 0) {
    return new LayerEmpty(
      "The file says that its coordinates are longitudes and latitudes, and they are not: submit again with the right source_crs.",
      { code: "COORDINATES_OUT_OF_RANGE", details },
    );
  }
  const reasons = findings.map((finding) => finding.message).join(" ");
  return new LayerEmpty(
    `The layer "${title}" has no feature that can be shown. ${reasons}`.trim(),
    { code: "NO_FEATURES", details },
  );
}
