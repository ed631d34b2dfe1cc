/** Cuts a long layer into parts that together have its rows, in their order. */
import { availableParallelism } from "node:os";
import path from "node:path";
import { fidRanges } from "../../../core/vector/sqlite-values.ts";
import type { PlacedLayer } from "./convert-layer.ts";
import { cutLines } from "./cut-lines.ts";

export interface CutSource {
  /** Of a file of JSON lines, how many it has. */
  readonly lines?: number | undefined;
  readonly isGeoPackage: boolean;
}

const mostParts = 4;
/** Fewer rows are converted before a second process would be ready. */
const fewestRows = 20_000;

/** None: the layer stays whole. */
export async function cutLayer(
  source: PlacedLayer,
  { lines, isGeoPackage }: CutSource,
  signal: AbortSignal,
): Promise<PlacedLayer[]> {
  const count = Math.min(mostParts, availableParallelism());
  if (count < 2) return [];
  if (lines !== undefined) {
    const files = await cutLines(source.file, count, signal);
    return files.map((file) => partOf(source, file));
  }
  const { fidColumn = "", featureCount } = source.layer;
  if (!isGeoPackage || fidColumn === "" || !(featureCount >= fewestRows)) return [];
  return fidRanges(fidColumn, featureCount, count).map((rows) => ({ ...source, rows }));
}

/** The layer of a part is named after its file. */
function partOf(source: PlacedLayer, file: string): PlacedLayer {
  return { ...source, file, layer: { ...source.layer, name: path.parse(file).name } };
}
