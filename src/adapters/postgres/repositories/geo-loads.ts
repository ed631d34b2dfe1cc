/**
 * Loads a layer. Rows are copied into loading tables; when all chunks are loaded, `publishLoad`
 * renames the tables in one transaction. Each step may run twice, because queues deliver at least once.
 */
import { escapeIdentifier } from "pg";
import type { Bounds } from "../../../core/vector/parts.ts";
import type { GeoColumn, GeometryForm, GeometryType } from "../../../core/vector/geo-table.ts";
import { srid } from "../../../core/vector/geo-table.ts";
import type { Database } from "../database.ts";
import type { Queryable, Transaction } from "../queryable.ts";

export interface TableToLoad {
  readonly table_name: string;
  readonly geometry_type: GeometryType;
  readonly columns: readonly GeoColumn[];
  readonly feature_count: number;
  readonly bounds: Bounds | null;
  readonly chunk_count: number;
}

export interface Load {
  readonly load_id: string;
  readonly job_id: string;
  readonly form: GeometryForm;
  readonly tables: readonly TableToLoad[];
}

/** Creates the empty tables. Drops earlier tables of this load and of unfinished loads of its names. */
export async function beginLoad(db: Database, load: Load): Promise<void> {
  await db.transaction(async (tx) => {
    const names = load.tables.map((table) => table.table_name);
    await lockNames(tx, names);
    const { rows } = await tx.query<{ loading_table: string }>(
      `DELETE FROM dagapp.geo_loads WHERE load_id = $1 OR table_name = ANY ($2)
       RETURNING loading_table`,
      [load.load_id, names],
    );
    for (const { loading_table } of rows) {
      await tx.query(`DROP TABLE IF EXISTS geo.${escapeIdentifier(loading_table)}`);
    }
    for (const [index, table] of load.tables.entries()) {
      await makeTable(tx, load, table, `_load_${load.load_id}_${index}`);
    }
  });
}

async function makeTable(
  tx: Transaction,
  load: Load,
  table: TableToLoad,
  loadingTable: string,
): Promise<void> {
  const geometry =
    load.form === "postgis"
      ? [`geom geometry(${table.geometry_type}, ${srid}) NOT NULL`]
      : ["geom bytea NOT NULL", "bounds box NOT NULL"];
  const attributes = table.columns.map(({ name, type }) => `${escapeIdentifier(name)} ${type}`);
  // Identity and batch stand first, so that neither is behind a wide text. The primary key follows when
  // the table is published: an index that grows with each row takes longer than one built at once.
  const columns = ["fid bigint NOT NULL", "etl_batch_id integer NOT NULL"];
  await tx.query(
    `CREATE TABLE geo.${escapeIdentifier(loadingTable)} (${[...columns, ...geometry, ...attributes].join(", ")})`,
  );
  await tx.query(
    `INSERT INTO dagapp.geo_loads (load_id, table_name, loading_table, form, geometry_type,
       columns, feature_count, bounds, chunk_count, job_id)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [
      load.load_id,
      table.table_name,
      loadingTable,
      load.form,
      table.geometry_type,
      JSON.stringify(table.columns),
      table.feature_count,
      table.bounds,
      table.chunk_count,
      load.job_id,
    ],
  );
}

export interface ChunkToLoad {
  readonly load_id: string;
  readonly table_name: string;
  readonly chunk_index: number;
}

/** The columns in the order in which `writeRow` writes them. */
export function copyColumns(form: GeometryForm, columns: readonly GeoColumn[]): string[] {
  const own = form === "postgis" ? ["geom"] : ["geom", "bounds"];
  return ["fid", "etl_batch_id", ...own, ...columns.map(({ name }) => name)];
}

/**
 * Replaces the rows that this chunk wrote before by these bytes: one short transaction, for which all
 * the work was done beforehand. Answers undefined when the load has ended or was begun again.
 */
export async function loadChunk(
  db: Database,
  chunk: ChunkToLoad,
  open: () => AsyncIterable<Uint8Array>,
): Promise<number | undefined> {
  return db.copyTransaction(async (tx) => {
    const { load_id, table_name, chunk_index } = chunk;
    // Two workers may load the same chunk, and no key refuses the second rows: the later one waits here,
    // and then finds the rows that it replaces.
    await tx.query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [
      `${load_id} ${table_name} ${chunk_index}`,
    ]);
    // A share lock: chunks load concurrently, and no transaction publishes or drops the table meanwhile.
    const { rows } = await tx.query<{
      loading_table: string;
      form: GeometryForm;
      columns: GeoColumn[];
      wasLoaded: boolean;
    }>(
      `SELECT loading_table, form, columns, EXISTS (
         SELECT FROM dagapp.geo_load_chunks
         WHERE load_id = $1 AND table_name = $2 AND chunk_index = $3) AS "wasLoaded"
       FROM dagapp.geo_loads WHERE load_id = $1 AND table_name = $2 FOR SHARE`,
      [load_id, table_name, chunk_index],
    );
    const [load] = rows;
    if (load === undefined) return undefined;
    const table = `geo.${escapeIdentifier(load.loading_table)}`;
    // Slow, because the table has no index that would slow the copy: so only when rows exist.
    if (load.wasLoaded)
      await tx.query(`DELETE FROM ${table} WHERE etl_batch_id = $1`, [chunk_index]);
    const columns = copyColumns(load.form, load.columns).map(escapeIdentifier).join(", ");
    const count = await tx.copyIn(`COPY ${table} (${columns}) FROM STDIN`, open());
    await tx.query(
      `INSERT INTO dagapp.geo_load_chunks (load_id, table_name, chunk_index, row_count)
       VALUES ($1, $2, $3, $4)
       ON CONFLICT (load_id, table_name, chunk_index)
       DO UPDATE SET row_count = EXCLUDED.row_count, loaded_at = now()`,
      [load_id, table_name, chunk_index, count],
    );
    return count;
  });
}

/** Must be first in a transaction. Locks in the order of names, so that two cannot deadlock. */
export async function lockNames(tx: Queryable, names: readonly string[]): Promise<void> {
  await tx.query(
    `SELECT pg_advisory_xact_lock(hashtextextended('geo.' || name, 0))
     FROM unnest($1::text[]) AS name ORDER BY name`,
    [names],
  );
}
