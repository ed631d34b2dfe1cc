/**
 * Turns the rows of GDAL's dump into chunk files: prepares each geometry, and counts each change.
 */
import { isUtf8 } from "node:buffer";
import type { AttributePlan } from "../../../core/vector/attributes.ts";
import { mendAttributes, planAttributes } from "../../../core/vector/attributes.ts";
import type { CountedCode } from "../../../core/vector/findings.ts";
import { Tally } from "../../../core/vector/findings.ts";
import type { Parts } from "../../../core/vector/parts.ts";
import { keep, kindsOf, rewindAll } from "../../../core/vector/parts.ts";
import type { PreparedGeometry, Unusable } from "../../../core/vector/prepare-geometry.ts";
import { prepareGeometry } from "../../../core/vector/prepare-geometry.ts";
import type { DumpColumn } from "../../../core/vector/read-dump.ts";
import type { ReadGeometry } from "../../../core/vector/read-wkb.ts";
import { BadWkb, readWkb } from "../../../core/vector/read-wkb.ts";
import type { Survey } from "../../../core/vector/survey.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";
import type { ChunkWriter } from "./chunk-writer.ts";
import { HeldBack } from "./hold-back.ts";
import { openDump } from "./open-dump.ts";

const codes = {
  empty: "GEOMETRY_EMPTY",
  not_finite: "COORDINATES_NOT_FINITE",
  out_of_range: "COORDINATES_OUT_OF_RANGE",
} as const satisfies Record<Unusable, CountedCode>;

export interface WrittenLayer {
  /** The columns that are kept, under the names that the file gives them. */
  readonly columns: readonly DumpColumn[];
  readonly tally: Tally;
}

export async function writeLayer(
  dump: string,
  survey: Survey,
  writer: ChunkWriter,
  context: HandlerContext,
): Promise<WrittenLayer> {
  const tally = new Tally();
  const held = new HeldBack(context);
  let columns: readonly DumpColumn[] = [];
  let plan: AttributePlan = planAttributes([], new Set());
  const onColumns = (found: readonly DumpColumn[]) => {
    plan = planAttributes(found, survey.emptyColumns);
    columns = found.filter((_, index) => plan.kept.includes(index));
  };
  let seen = 0;

  async function emit(parts: Parts, attributes: string): Promise<void> {
    const wound = rewindAll(parts);
    if (wound.isChanged) tally.add("RINGS_REVERSED");
    const kinds = kindsOf(wound.parts);
    if (kinds.length > 1) tally.add("COLLECTION_SPLIT");
    for (const kind of kinds) await writer.write(kind, keep([kind], wound.parts), attributes);
  }

  for await (const rows of openDump(dump, context.signal, onColumns)) {
    for (const { fid, geometry, attributes } of rows) {
      seen += 1;
      const prepared = prepare(geometry, tally);
      if (prepared === undefined) continue;
      if (!isUtf8(attributes)) throw refuseEncoding();
      const mended = mendAttributes(plan, attributes.toString("latin1"));
      if (mended.droppedDates > 0) tally.add("DATES_DROPPED", mended.droppedDates);
      const { parts, wasSplit } = prepared;
      if (wasSplit) tally.add("ANTIMERIDIAN_SPLIT");
      const needsRepair = survey.invalid.has(fid) || (wasSplit && parts.polygons.length > 0);
      if (needsRepair) await held.add(parts, mended.row);
      else await emit(parts, mended.row);
    }
    context.progress(50 + (35 * seen) / Math.max(1, survey.featureCount));
  }
  for await (const { parts, attributes, wasRepaired } of held.release()) {
    if (parts === undefined) {
      tally.add("GEOMETRY_COLLAPSED");
      continue;
    }
    if (wasRepaired) tally.add("GEOMETRY_REPAIRED");
    await emit(parts, attributes);
  }
  if (seen < survey.featureCount) tally.add("FEATURES_UNREADABLE", survey.featureCount - seen);
  return { columns, tally };
}

/** Undefined: the geometry cannot be stored; the tally has counted why. */
function prepare(
  bytes: Uint8Array | undefined,
  tally: Tally,
): Exclude<PreparedGeometry, { unusable: Unusable }> | undefined {
  if (bytes === undefined) {
    tally.add("GEOMETRY_NULL");
    return undefined;
  }
  let read: ReadGeometry;
  try {
    read = readWkb(bytes);
  } catch (error) {
    if (!(error instanceof BadWkb)) throw error;
    tally.add("FEATURES_UNREADABLE");
    return undefined;
  }
  const prepared = prepareGeometry(read);
  if (prepared.unusable === undefined) return prepared;
  tally.add(codes[prepared.unusable]);
  return undefined;
}

function refuseEncoding() {
  return new PermanentError(
    "The file's text is not in the encoding that it names. Submit again with encoding, such as CP1252, or save it as UTF-8.",
    { code: "ENCODING_INVALID" },
  );
}
