/** Reads the table of flood rasters. */
import type { FathomKey, FathomPhase } from "../../../core/fathom/configuration.ts";
import type { FloodAttributes } from "../../../core/fathom/read-name.ts";
import type { RasterFacts } from "../../../core/raster/facts.ts";
import type { Queryable } from "../queryable.ts";

export interface FathomInput {
  readonly path: string;
  /** Of a source: path, size and ETag. Of a stack: its checksum. */
  readonly tag: string;
}

interface PlannedRow extends FathomKey {
  readonly attributes: FloodAttributes;
  readonly return_periods: readonly number[];
  readonly grid_degrees: number;
  readonly inputs: readonly FathomInput[];
  readonly input_hash: string;
  readonly registered: string | null;
}

/** The file of a raster, as it was made last. */
export interface MadeRaster {
  readonly made_of: string;
  readonly path: string;
  readonly bytes: number;
  readonly etag: string | null;
  readonly checksum: string;
  readonly facts: RasterFacts;
}

export type FathomRow = PlannedRow & (MadeRaster | { readonly made_of: null });

const columns = `dataset, phase, product, place, attributes, return_periods, grid_degrees, inputs,
  input_hash, registered, made_of, path, bytes::float8 AS bytes, etag, checksum, facts`;

export async function findFathomRaster(
  db: Queryable,
  { dataset, phase, product, place }: FathomKey,
): Promise<FathomRow | undefined> {
  const { rows } = await db.query<FathomRow>(
    `SELECT ${columns} FROM dagapp.fathom_rasters
     WHERE (dataset, phase, product, place) = ($1, $2, $3, $4)`,
    [dataset, phase, product, place],
  );
  return rows[0];
}

/** By product and place. */
export async function listFathomRasters(
  db: Queryable,
  dataset: string,
  phase: FathomPhase,
): Promise<readonly FathomRow[]> {
  const { rows } = await db.query<FathomRow>(
    `SELECT ${columns} FROM dagapp.fathom_rasters WHERE dataset = $1 AND phase = $2
     ORDER BY product COLLATE "C", place COLLATE "C"`,
    [dataset, phase],
  );
  return rows;
}
