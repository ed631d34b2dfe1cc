/** Writes the table of flood rasters. */
import type { FathomKey } from "../../../core/fathom/configuration.ts";
import type { FathomRow, MadeRaster } from "../queries/fathom.ts";
import type { Queryable } from "../queryable.ts";

export type PlannedRaster = Pick<
  FathomRow,
  keyof FathomKey | "attributes" | "return_periods" | "grid_degrees" | "inputs" | "input_hash"
>;

/** What each raster is to be made of. What was made stays recorded until it is made anew. */
export async function planFathomRasters(
  db: Queryable,
  jobId: string,
  rasters: readonly PlannedRaster[],
): Promise<void> {
  await db.query(
    `INSERT INTO dagapp.fathom_rasters AS known
       (dataset, phase, product, place, attributes, return_periods, grid_degrees, inputs, input_hash,
        job_id)
     SELECT given.dataset, given.phase, given.product, given.place, given.attributes,
       given.return_periods, given.grid_degrees, given.inputs, given.input_hash, $1
     FROM jsonb_to_recordset($2) AS given (dataset text, phase text, product text, place text,
       attributes jsonb, return_periods integer[], grid_degrees integer, inputs jsonb, input_hash text)
     ON CONFLICT (dataset, phase, product, place) DO UPDATE SET
       attributes = excluded.attributes, return_periods = excluded.return_periods,
       grid_degrees = excluded.grid_degrees, inputs = excluded.inputs,
       input_hash = excluded.input_hash, job_id = excluded.job_id, updated_at = now()
     WHERE known.input_hash <> excluded.input_hash`,
    [jobId, JSON.stringify(rasters)],
  );
}

/** After the file was written. */
export async function recordFathomRaster(
  db: Queryable,
  { dataset, phase, product, place }: FathomKey,
  made: MadeRaster,
): Promise<void> {
  await db.query(
    `UPDATE dagapp.fathom_rasters
     SET made_of = $5, path = $6, bytes = $7, etag = $8, checksum = $9, facts = $10, made_at = now(),
       updated_at = now()
     WHERE (dataset, phase, product, place) = ($1, $2, $3, $4)`,
    [
      ...[dataset, phase, product, place, made.made_of, made.path, made.bytes, made.etag],
      ...[made.checksum, JSON.stringify(made.facts)],
    ],
  );
}

/** The files whose items now state these checksums. */
export async function recordFathomItems(
  db: Queryable,
  rasters: readonly (FathomKey & { readonly checksum: string })[],
): Promise<void> {
  await db.query(
    `UPDATE dagapp.fathom_rasters SET registered = given.checksum, updated_at = now()
     FROM jsonb_to_recordset($1) AS given
       (dataset text, phase text, product text, place text, checksum text)
     WHERE (fathom_rasters.dataset, fathom_rasters.phase, fathom_rasters.product,
       fathom_rasters.place) = (given.dataset, given.phase, given.product, given.place)`,
    [JSON.stringify(rasters)],
  );
}
