import { escapeIdentifier } from "pg";
import type { GeoColumn, GeometryForm } from "../../../core/vector/geo-table.ts";
import type { Database } from "../database.ts";
import type { Transaction } from "../queryable.ts";
import { lockNames } from "./geo-loads.ts";

interface LoadRow {
  readonly table_name: string;
  readonly loading_table: string;
  readonly form: GeometryForm;
  readonly columns: readonly GeoColumn[];
  readonly feature_count: number;
  readonly chunk_count: number;
  readonly loaded_chunks: number;
  readonly loaded_rows: number;
}

export class IncompleteLoad extends Error {
  constructor(table: string, reason: string) {
    super(`The layer "${table}" cannot be published: ${reason}.`);
    this.name = "IncompleteLoad";
  }
}

/** Building the index of a large table takes longer than any other statement of the platform. */
const indexTimeoutMs = 1_800_000;

/**
 * Indexes and analyses all tables of a load and gives them their names, in one transaction. Answers
 * how many were published; 0 if the load was published before.
 */
export async function publishLoad(db: Database, loadId: string): Promise<number> {
  return db.transaction(
    async (tx) => {
      const names = await tx.query<{ table_name: string }>(
        "SELECT table_name FROM dagapp.geo_loads WHERE load_id = $1",
        [loadId],
      );
      await lockNames(
        tx,
        names.rows.map((load) => load.table_name),
      );
      const { rows } = await tx.query<LoadRow>(
        `SELECT table_name, loading_table, form, columns, feature_count, chunk_count,
           (SELECT count(*) FROM dagapp.geo_load_chunks c
            WHERE c.load_id = l.load_id AND c.table_name = l.table_name) AS loaded_chunks,
           (SELECT coalesce(sum(row_count), 0)::bigint FROM dagapp.geo_load_chunks c
            WHERE c.load_id = l.load_id AND c.table_name = l.table_name) AS loaded_rows
         FROM dagapp.geo_loads l WHERE load_id = $1 ORDER BY table_name FOR UPDATE`,
        [loadId],
      );
      for (const load of rows) await finishTable(tx, load);
      for (const load of rows) await renameTable(tx, load);
      await recordTables(tx, loadId);
      return rows.length;
    },
    { statementTimeoutMs: indexTimeoutMs },
  );
}

async function finishTable(tx: Transaction, load: LoadRow): Promise<void> {
  const { table_name, loading_table, chunk_count, loaded_chunks } = load;
  if (loaded_chunks !== chunk_count) {
    throw new IncompleteLoad(table_name, `${loaded_chunks} of ${chunk_count} chunks are loaded`);
  }
  if (load.loaded_rows !== load.feature_count) {
    const counts = `${load.loaded_rows} rows were loaded and ${load.feature_count} prepared`;
    throw new IncompleteLoad(table_name, counts);
  }
  const table = `geo.${escapeIdentifier(loading_table)}`;
  // Which columns hold nothing is known only after the last feature.
  const dropped = load.columns
    .filter((column) => column.is_empty === true)
    .map(({ name }) => `DROP COLUMN ${escapeIdentifier(name)}`);
  if (dropped.length > 0) await tx.query(`ALTER TABLE ${table} ${dropped.join(", ")}`);
  const column = load.form === "postgis" ? "geom" : "bounds";
  // A load that an earlier version has begun has its key already.
  const { rowCount } = await tx.query(
    "SELECT FROM pg_index WHERE indrelid = $1::regclass AND indisprimary",
    [table],
  );
  if (rowCount === 0) await tx.query(`ALTER TABLE ${table} ADD PRIMARY KEY (fid)`);
  await tx.query(`CREATE INDEX ON ${table} USING gist (${column})`);
  // A sample of 9,000 rows: with the usual 30,000 this takes longer than the index.
  await tx.query(`SET LOCAL default_statistics_target = 30`);
  await tx.query(`ANALYZE ${table}`);
}

async function renameTable(tx: Transaction, { table_name, loading_table }: LoadRow): Promise<void> {
  // Drops only a table that a load published: any other table of this name makes the rename fail.
  const { rowCount } = await tx.query("SELECT FROM dagapp.geo_tables WHERE table_name = $1", [
    table_name,
  ]);
  if (rowCount === 1) await tx.query(`DROP TABLE IF EXISTS geo.${escapeIdentifier(table_name)}`);
  await tx.query(
    `ALTER TABLE geo.${escapeIdentifier(loading_table)} RENAME TO ${escapeIdentifier(table_name)}`,
  );
}

async function recordTables(tx: Transaction, loadId: string): Promise<void> {
  await tx.query(
    `INSERT INTO dagapp.geo_tables (table_name, load_id, form, geometry_type, columns,
       feature_count, bounds, job_id)
     SELECT table_name, load_id, form, geometry_type,
       (SELECT coalesce(jsonb_agg(entry ORDER BY place), '[]')
        FROM jsonb_array_elements(columns) WITH ORDINALITY AS listed (entry, place)
        WHERE NOT entry ? 'is_empty'),
       feature_count, bounds, job_id
     FROM dagapp.geo_loads WHERE load_id = $1
     ON CONFLICT (table_name) DO UPDATE SET
       load_id = EXCLUDED.load_id, form = EXCLUDED.form, geometry_type = EXCLUDED.geometry_type,
       columns = EXCLUDED.columns, feature_count = EXCLUDED.feature_count,
       bounds = EXCLUDED.bounds, job_id = EXCLUDED.job_id, published_at = now()`,
    [loadId],
  );
  await tx.query("DELETE FROM dagapp.geo_loads WHERE load_id = $1", [loadId]);
}

/** Drops a layer and its entry. Answers false when there is none. */
export async function dropGeoTable(db: Database, name: string): Promise<boolean> {
  return db.transaction(async (tx) => {
    await lockNames(tx, [name]);
    const { rowCount } = await tx.query("DELETE FROM dagapp.geo_tables WHERE table_name = $1", [
      name,
    ]);
    if (rowCount === 0) return false;
    await tx.query(`DROP TABLE IF EXISTS geo.${escapeIdentifier(name)}`);
    return true;
  });
}
