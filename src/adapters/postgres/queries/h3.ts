/** Reads the catalogue of H3 computations. */
import type { FrozenCombination, H3CombinedSource } from "../../../core/h3/combination.ts";
import type { H3Configuration, H3Kind, H3Source } from "../../../core/h3/configuration.ts";
import type {
  H3VectorConfiguration,
  H3VectorSource,
} from "../../../core/h3/vector-configuration.ts";
import type { Queryable } from "../queryable.ts";

export interface H3SourceRow {
  readonly raster: string;
  readonly source: H3Source;
  readonly configuration: Readonly<Record<string, unknown>>;
  readonly created_at: Date;
  readonly updated_at: Date;
}

export async function findH3Source(
  db: Queryable,
  raster: string,
): Promise<H3SourceRow | undefined> {
  const { rows } = await db.query<H3SourceRow>(
    `SELECT raster, source, configuration, created_at, updated_at
     FROM dagapp.h3_raster_sources WHERE raster = $1`,
    [raster],
  );
  return rows[0];
}

export async function findH3VectorSource(
  db: Queryable,
  layer: string,
): Promise<
  | { readonly source: H3VectorSource; readonly configuration: Readonly<Record<string, unknown>> }
  | undefined
> {
  const { rows } = await db.query<{
    readonly source: H3VectorSource;
    readonly configuration: Readonly<Record<string, unknown>>;
  }>(`SELECT source, configuration FROM dagapp.h3_vector_sources WHERE layer = $1`, [layer]);
  return rows[0];
}

export async function findH3CombinedSource(
  db: Queryable,
  combination: string,
): Promise<
  | { readonly source: H3CombinedSource; readonly configuration: Readonly<Record<string, unknown>> }
  | undefined
> {
  const { rows } = await db.query<{
    readonly source: H3CombinedSource;
    readonly configuration: Readonly<Record<string, unknown>>;
  }>(`SELECT source, configuration FROM dagapp.h3_combined_sources WHERE combination = $1`, [
    combination,
  ]);
  return rows[0];
}

/** Whether a data set of this name is asked for or was computed, and of which kind it is. */
export async function findKindOfH3Name(db: Queryable, name: string): Promise<H3Kind | undefined> {
  const { rows } = await db.query<{ kind: H3Kind }>(
    `(SELECT kind FROM dagapp.h3_computation_runs WHERE raster = $1 LIMIT 1)
     UNION ALL (SELECT 'raster' FROM dagapp.h3_raster_sources WHERE raster = $1)
     UNION ALL (SELECT 'vector' FROM dagapp.h3_vector_sources WHERE layer = $1)
     UNION ALL (SELECT 'combined' FROM dagapp.h3_combined_sources WHERE combination = $1) LIMIT 1`,
    [name],
  );
  return rows[0]?.kind;
}

export interface H3RunRow {
  readonly run_id: string;
  readonly kind: H3Kind;
  /** The name of the data set, of whatever kind. */
  readonly raster: string;
  readonly period: string;
  readonly origin: string;
  readonly source_tag: string;
  readonly source_path: string;
  readonly wkt2: string;
  readonly bbox: readonly [number, number, number, number];
  readonly configuration: H3Configuration | H3VectorConfiguration | FrozenCombination;
  readonly findings: readonly { readonly code: string; readonly message: string }[];
  readonly chunk_count: number;
  readonly job_id: string;
  readonly status: "running" | "completed";
  readonly row_count: number | null;
  readonly collection_id: string | null;
  readonly item_id: string | null;
  readonly started_at: Date;
  readonly finished_at: Date | null;
}

const runColumns = `run_id, kind, raster, period, origin, source_tag, source_path, wkt2, bbox,
  configuration, findings, chunk_count, job_id, status, row_count::float8 AS row_count,
  collection_id, item_id, started_at, finished_at`;

export async function findH3Run(db: Queryable, runId: string): Promise<H3RunRow | undefined> {
  const { rows } = await db.query<H3RunRow>(
    `SELECT ${runColumns} FROM dagapp.h3_computation_runs WHERE run_id = $1`,
    [runId],
  );
  return rows[0];
}

/** The newest first. */
export async function listH3Runs(
  db: Queryable,
  { raster, limit }: { readonly raster?: string | undefined; readonly limit: number },
): Promise<readonly H3RunRow[]> {
  const { rows } = await db.query<H3RunRow>(
    `SELECT ${runColumns} FROM dagapp.h3_computation_runs
     WHERE $1::text IS NULL OR raster = $1
     ORDER BY started_at DESC, run_id LIMIT $2`,
    [raster ?? null, limit],
  );
  return rows;
}

/**
 * The newest run of a data set that was completed, of a period or of the last one. A run that is computed again
 * has the same id and makes the same files, so its values are served on.
 */
export async function findServedH3Run(
  db: Queryable,
  raster: string,
  period: string | undefined,
): Promise<H3RunRow | undefined> {
  const { rows } = await db.query<H3RunRow>(
    `SELECT ${runColumns} FROM dagapp.h3_computation_runs
     WHERE raster = $1 AND row_count IS NOT NULL AND item_id IS NOT NULL
       AND ($2::text IS NULL OR period = $2)
     ORDER BY period DESC, coalesce(finished_at, started_at) DESC LIMIT 1`,
    [raster, period ?? null],
  );
  return rows[0];
}

export interface H3FileRow {
  readonly path: string;
  readonly resolution: number;
  readonly h3_l3: string | null;
  readonly row_count: number;
  readonly bytes: number;
  readonly sha256: string;
}

/**
 * By resolution and cell. `chunks` are cells of resolution 3; `compacted` leaves the files of chunks out. A run
 * over all land has 90,000 files; with resolutions beside chunks the index finds a few of them.
 */
export async function listH3Files(
  db: Queryable,
  runId: string,
  wanted: {
    readonly chunks?: readonly string[];
    readonly resolutions?: readonly number[];
    readonly compacted?: boolean;
  } = {},
): Promise<readonly H3FileRow[]> {
  const { chunks, resolutions, compacted } = wanted;
  const values: unknown[] = [runId];
  const conditions = ["run_id = $1"];
  if (chunks !== undefined) conditions.push(`h3_l3 = ANY($${values.push(chunks)}::text[])`);
  if (resolutions !== undefined) {
    conditions.push(`resolution = ANY($${values.push(resolutions)}::smallint[])`);
  }
  if (compacted === true) conditions.push("h3_l3 IS NULL");
  const { rows } = await db.query<H3FileRow>(
    `SELECT path, resolution, h3_l3, row_count::float8 AS row_count, bytes::float8 AS bytes, sha256
     FROM dagapp.h3_output_manifest
     WHERE ${conditions.join(" AND ")}
     ORDER BY resolution, h3_l3 COLLATE "C" NULLS LAST`,
    values,
  );
  return rows;
}

export interface H3SourceState extends Omit<H3SourceRow, "source"> {
  readonly kind: H3Kind;
  readonly source: H3Source | H3VectorSource | H3CombinedSource;
  readonly run_id: string | null;
  readonly origin: string | null;
  readonly source_tag: string | null;
  readonly finished_at: Date | null;
}

/** All kinds in one table: a name belongs to one data set. */
const definitions = `(
  SELECT 'raster' AS kind, * FROM dagapp.h3_raster_sources
  UNION ALL SELECT 'vector', * FROM dagapp.h3_vector_sources
  UNION ALL SELECT 'combined', * FROM dagapp.h3_combined_sources)`;

/** Whether the source or the configuration of the data set was changed after this run had begun. */
export async function isH3Redefined(db: Queryable, runId: string): Promise<boolean> {
  const { rows } = await db.query(
    `SELECT FROM dagapp.h3_computation_runs run
     JOIN ${definitions} definition ON definition.raster = run.raster
     WHERE run.run_id = $1 AND definition.updated_at > run.started_at`,
    [runId],
  );
  return rows.length > 0;
}

/** The place of a data set in the list. */
export interface H3SourcePlace {
  readonly is_computed: boolean;
  readonly raster: string;
}

/** What is asked for, each with its last completed run; those never computed come first, then by name. */
export async function listH3Sources(
  db: Queryable,
  wanted: {
    readonly limit: number;
    readonly after?: H3SourcePlace | undefined;
    readonly isComputed?: boolean | undefined;
    readonly raster?: string | undefined;
  },
): Promise<readonly H3SourceState[]> {
  const { rows } = await db.query<H3SourceState>(
    `SELECT source.kind, source.raster, source.source, source.configuration, source.created_at,
       source.updated_at, run.run_id, run.origin, run.source_tag, run.finished_at
     FROM ${definitions} source
     LEFT JOIN LATERAL (
       SELECT run_id, origin, source_tag, finished_at FROM dagapp.h3_computation_runs
       WHERE raster = source.raster AND row_count IS NOT NULL
       ORDER BY coalesce(finished_at, started_at) DESC LIMIT 1) run ON true
     WHERE ($2::boolean IS NULL OR (run.run_id IS NOT NULL) = $2)
       AND ($3::boolean IS NULL
         OR (run.run_id IS NOT NULL, source.raster COLLATE "C") > ($3, $4::text COLLATE "C"))
       AND ($5::text IS NULL OR source.raster = $5)
     ORDER BY run.run_id IS NOT NULL, source.raster COLLATE "C" LIMIT $1`,
    [
      wanted.limit,
      wanted.isComputed ?? null,
      wanted.after?.is_computed ?? null,
      wanted.after?.raster ?? null,
      wanted.raster ?? null,
    ],
  );
  return rows;
}
