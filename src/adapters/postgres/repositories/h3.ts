/**
 * Writes the catalogue of H3 computations. A definition that is saved again as it was keeps its `updated_at`: a
 * later one than the start of a run says that the run is stale. Keys that are null and keys that are absent mean
 * the same and are saved alike.
 */
import type { FrozenCombination, H3CombinedSource } from "../../../core/h3/combination.ts";
import type { H3Configuration, H3Kind, H3Source } from "../../../core/h3/configuration.ts";
import type {
  H3VectorConfiguration,
  H3VectorSource,
} from "../../../core/h3/vector-configuration.ts";
import type { Queryable } from "../queryable.ts";

export async function saveH3Source(
  db: Queryable,
  raster: string,
  source: H3Source,
  configuration: object,
): Promise<void> {
  await db.query(
    `INSERT INTO dagapp.h3_raster_sources AS known (raster, source, configuration)
     VALUES ($1, jsonb_strip_nulls($2::jsonb), jsonb_strip_nulls($3::jsonb))
     ON CONFLICT (raster) DO UPDATE SET
       source = excluded.source, configuration = excluded.configuration, updated_at = now()
     WHERE (known.source, known.configuration) IS DISTINCT FROM
       (excluded.source, excluded.configuration)`,
    [raster, JSON.stringify(source), JSON.stringify(configuration)],
  );
}

export async function saveH3VectorSource(
  db: Queryable,
  layer: string,
  source: H3VectorSource,
  configuration: object,
): Promise<void> {
  await db.query(
    `INSERT INTO dagapp.h3_vector_sources AS known (layer, source, configuration)
     VALUES ($1, jsonb_strip_nulls($2::jsonb), jsonb_strip_nulls($3::jsonb))
     ON CONFLICT (layer) DO UPDATE SET
       source = excluded.source, configuration = excluded.configuration, updated_at = now()
     WHERE (known.source, known.configuration) IS DISTINCT FROM
       (excluded.source, excluded.configuration)`,
    [layer, JSON.stringify(source), JSON.stringify(configuration)],
  );
}

export async function saveH3CombinedSource(
  db: Queryable,
  combination: string,
  source: H3CombinedSource,
  configuration: object,
): Promise<void> {
  await db.query(
    `INSERT INTO dagapp.h3_combined_sources AS known (combination, source, configuration)
     VALUES ($1, jsonb_strip_nulls($2::jsonb), jsonb_strip_nulls($3::jsonb))
     ON CONFLICT (combination) DO UPDATE SET
       source = excluded.source, configuration = excluded.configuration, updated_at = now()
     WHERE (known.source, known.configuration) IS DISTINCT FROM
       (excluded.source, excluded.configuration)`,
    [combination, JSON.stringify(source), JSON.stringify(configuration)],
  );
}

export interface NewH3Run {
  readonly run_id: string;
  readonly kind: H3Kind;
  readonly raster: string;
  readonly period: string;
  readonly origin: string;
  readonly source_tag: string;
  readonly source_path: string;
  readonly wkt2: string;
  readonly bbox: readonly number[];
  readonly configuration: H3Configuration | H3VectorConfiguration | FrozenCombination;
  readonly findings: readonly { readonly code: string; readonly message: string }[];
  readonly chunk_count: number;
  readonly job_id: string;
}

/** The same computation is the same row; it runs again until `finishH3Run`. */
export async function startH3Run(db: Queryable, run: NewH3Run): Promise<void> {
  await db.query(
    `INSERT INTO dagapp.h3_computation_runs
       (run_id, raster, period, origin, source_tag, source_path, wkt2, bbox, configuration,
        findings, chunk_count, job_id, kind)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
     ON CONFLICT (run_id) DO UPDATE SET
       source_path = excluded.source_path, findings = excluded.findings,
       chunk_count = excluded.chunk_count, job_id = excluded.job_id, status = 'running',
       started_at = now(), finished_at = NULL`,
    [
      run.run_id,
      run.raster,
      run.period,
      run.origin,
      run.source_tag,
      run.source_path,
      run.wkt2,
      run.bbox,
      JSON.stringify(run.configuration),
      JSON.stringify(run.findings),
      run.chunk_count,
      run.job_id,
      run.kind,
    ],
  );
}

export interface ManifestEntry {
  readonly path: string;
  readonly resolution: number;
  readonly h3_l3: string | null;
  readonly row_count: number;
  readonly bytes: number;
  readonly sha256: string;
}

/** After the files were written. A path that another run has written is this run's from now on. */
export async function recordH3Files(
  db: Queryable,
  runId: string,
  files: readonly ManifestEntry[],
): Promise<void> {
  await db.query(
    `INSERT INTO dagapp.h3_output_manifest AS known
       (path, run_id, resolution, h3_l3, row_count, bytes, sha256)
     SELECT given.path, $1, given.resolution, given.h3_l3, given.row_count, given.bytes, given.sha256
     FROM unnest($2::text[], $3::int[], $4::text[], $5::bigint[], $6::bigint[], $7::text[])
       AS given (path, resolution, h3_l3, row_count, bytes, sha256)
     ON CONFLICT (path) DO UPDATE SET
       run_id = excluded.run_id, row_count = excluded.row_count, bytes = excluded.bytes,
       sha256 = excluded.sha256, written_at = now()
     WHERE (known.run_id, known.sha256) IS DISTINCT FROM (excluded.run_id, excluded.sha256)`,
    [
      runId,
      files.map(({ path }) => path),
      files.map(({ resolution }) => resolution),
      files.map(({ h3_l3 }) => h3_l3),
      files.map(({ row_count }) => row_count),
      files.map(({ bytes }) => bytes),
      files.map(({ sha256 }) => sha256),
    ],
  );
}

export async function finishH3Run(
  db: Queryable,
  runId: string,
  rowCount: number,
  findings: NewH3Run["findings"],
): Promise<void> {
  await db.query(
    `UPDATE dagapp.h3_computation_runs
     SET status = 'completed', finished_at = now(), row_count = $2, findings = $3
     WHERE run_id = $1`,
    [runId, rowCount, JSON.stringify(findings)],
  );
}

/** The item of the catalogue that shows the run: who sees it sees the run's values. */
export async function setItemOfH3Run(
  db: Queryable,
  runId: string,
  collectionId: string,
  itemId: string,
): Promise<void> {
  await db.query(
    `UPDATE dagapp.h3_computation_runs SET collection_id = $2, item_id = $3 WHERE run_id = $1`,
    [runId, collectionId, itemId],
  );
}
