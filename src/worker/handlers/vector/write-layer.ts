/**
 * Turns the rows of GDAL's dump into chunk files: prepares each geometry, and counts each change.
 */
import { isUtf8 } from "node:buffer";
import { AttributeReader } from "../../../core/vector/attributes.ts";
import type { CountedCode } from "../../../core/vector/findings.ts";
import { Tally } from "../../../core/vector/findings.ts";
import { doubleCoordinates } from "../../../core/vector/half-degrees.ts";
import type { Parts } from "../../../core/vector/parts.ts";
import { keep, kindsOf, rewindAll } from "../../../core/vector/parts.ts";
import { PlainGeometry } from "../../../core/vector/plain-geometry.ts";
import type { PreparedGeometry, Unusable } from "../../../core/vector/prepare-geometry.ts";
import { prepareGeometry } from "../../../core/vector/prepare-geometry.ts";
import { isProvenValid } from "../../../core/vector/prove-valid.ts";
import type { RawKind } from "../../../core/vector/raw-values.ts";
import type { ReadGeometry } from "../../../core/vector/read-wkb.ts";
import { BadWkb, readWkb } from "../../../core/vector/read-wkb.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";
import type { ChunkWriter } from "./chunk-writer.ts";
import type { Curved } from "./straighten.ts";
import { HeldBack } from "./hold-back.ts";
import { refuseWide } from "./inspect-source.ts";
import type { DumpRow } from "./open-dump.ts";
import type { LayerRows } from "./open-rows.ts";

const codes = {
  empty: "GEOMETRY_EMPTY",
  not_finite: "COORDINATES_NOT_FINITE",
  out_of_range: "COORDINATES_OUT_OF_RANGE",
} as const satisfies Record<Unusable, CountedCode>;

export interface WrittenLayer {
  /** The columns under the names that the file gives them. */
  readonly columns: ReturnType<AttributeReader["found"]>;
  readonly tally: Tally;
  /** The rows that GDAL wrote. */
  readonly seen: number;
}

export interface LayerToWrite {
  /** A short name that no other layer of the task has. */
  readonly name: string;
  readonly rows: LayerRows;
  readonly isUntyped: boolean;
  readonly rawColumns: ReadonlyMap<string, RawKind>;
  readonly canChooseEncoding: boolean;
  /** The file's own count, for the progress; it may be wrong. */
  readonly claimedCount: number;
  /** Reads curved geometries again, in the file's coordinates, where arcs are arcs. */
  straighten(curved: readonly Curved[]): AsyncIterable<Parts | undefined>;
}

export async function writeLayer(
  layer: LayerToWrite,
  writer: ChunkWriter,
  context: HandlerContext,
): Promise<WrittenLayer> {
  const tally = new Tally();
  const held = new HeldBack(context, layer.name);
  const curved: (Curved & { readonly attributes: string })[] = [];
  const plain = new PlainGeometry();
  let reader = new AttributeReader([], false, layer.rawColumns);
  let seen = 0;

  async function emit(parts: Parts, attributes: string): Promise<void> {
    const wound = rewindAll(parts);
    if (wound.isChanged) tally.add("RINGS_REVERSED");
    const kinds = kindsOf(wound.parts);
    if (kinds.length > 1) tally.add("COLLECTION_SPLIT");
    for (const kind of kinds) await writer.write(kind, keep([kind], wound.parts), attributes);
  }

  async function take(read: ReadGeometry, attributes: string): Promise<void> {
    const prepared = prepare(read, tally);
    if (prepared === undefined) return;
    const { parts, wasSplit } = prepared;
    if (wasSplit) tally.add("ANTIMERIDIAN_SPLIT");
    if (isProvenValid(parts)) await emit(parts, attributes);
    else await held.add(parts, attributes);
  }

  const { isHalved } = layer.rows;
  const batches = layer.rows.read((columns) => {
    refuseWide(columns.length);
    reader = new AttributeReader(columns, layer.isUntyped, layer.rawColumns);
  });
  try {
    for await (const rows of batches) {
      for (const row of rows) {
        seen += 1;
        const isPlain = plain.read(row.line, row.hexStart, row.hexEnd, isHalved);
        const read = isPlain ? undefined : readGeometry(row.geometry, tally, isHalved);
        if (!isPlain && read === undefined) continue;
        if (!isUtf8(row.line)) throw refuseEncoding(layer.canChooseEncoding);
        if (read !== undefined) {
          if (read.hasHeights) tally.add("DIMENSIONS_REDUCED");
          const attributes = reader.read(row.attributes.toString("latin1"));
          if (read.hasCurves) curved.push({ fid: row.fid, attributes });
          else await take(read, attributes);
          continue;
        }
        if (plain.isReversed) tally.add("RINGS_REVERSED");
        const waits = writer.writePlain(plain, plainAttributes(row, reader));
        if (waits !== undefined) await waits;
      }
      context.progress(15 + (70 * seen) / Math.max(1, seen, layer.claimedCount));
    }
  } catch (error) {
    await held.close();
    throw error;
  } finally {
    layer.rows.stop();
  }
  let index = 0;
  if (curved.length > 0) {
    tally.add("CURVES_LINEARISED", curved.length);
    for await (const parts of layer.straighten(curved)) {
      const { attributes } = curved[index++] ?? { attributes: "" };
      if (parts === undefined) tally.add("FEATURES_UNREADABLE");
      else
        await take(
          { ...parts, hasNonFinite: false, hasCurves: false, hasHeights: false },
          attributes,
        );
    }
  }
  for await (const { parts, attributes, wasRepaired } of held.release()) {
    if (parts === undefined) {
      tally.add("GEOMETRY_COLLAPSED");
      continue;
    }
    if (wasRepaired) tally.add("GEOMETRY_REPAIRED");
    await emit(parts, attributes);
  }
  if (reader.droppedDates > 0) tally.add("DATES_DROPPED", reader.droppedDates);
  if (reader.hugeColumns > 0) tally.add("INTEGERS_AS_TEXT", reader.hugeColumns);
  return { columns: reader.found(), tally, seen };
}

/** The attributes as bytes of the dump if no value has to be looked at, otherwise as text. */
function plainAttributes(row: DumpRow, reader: AttributeReader): string | Uint8Array {
  return reader.isDone && row.hasSpelledEscapes()
    ? row.line.subarray(Math.min(row.restStart, row.line.length))
    : reader.read(row.attributes.toString("latin1"));
}

/** Undefined: there is no geometry that can be read; the tally has counted why. */
function readGeometry(
  bytes: Uint8Array | undefined,
  tally: Tally,
  isHalved: boolean,
): ReadGeometry | undefined {
  if (bytes === undefined) {
    tally.add("GEOMETRY_NULL");
    return undefined;
  }
  try {
    const read = readWkb(bytes);
    return isHalved ? doubleCoordinates(read) : read;
  } catch (error) {
    if (!(error instanceof BadWkb)) throw error;
    tally.add("FEATURES_UNREADABLE");
    return undefined;
  }
}

/** Undefined: the geometry cannot be stored; the tally has counted why. */
function prepare(
  read: ReadGeometry,
  tally: Tally,
): Exclude<PreparedGeometry, { unusable: Unusable }> | undefined {
  const prepared = prepareGeometry(read);
  if (prepared.unusable === undefined) return prepared;
  tally.add(codes[prepared.unusable]);
  return undefined;
}

function refuseEncoding(canChoose: boolean) {
  const remedy = canChoose
    ? "Submit again with encoding, such as CP1252, or save it as UTF-8."
    : "Open it in a GIS with the right encoding, and save it as a GeoPackage.";
  return new PermanentError(`The file's text is not in the encoding that it names. ${remedy}`, {
    code: "ENCODING_INVALID",
  });
}
