import type { Bounds } from "../../../core/vector/parts.ts";
import type { GeoColumn, GeometryForm, GeometryType } from "../../../core/vector/geo-table.ts";
import type { Queryable } from "../queryable.ts";
import type { Conditions } from "./conditions.ts";

/** A published layer: its columns, and the form in which its geometry is stored. */
export interface GeoTable {
  readonly table_name: string;
  readonly load_id: string;
  readonly form: GeometryForm;
  readonly geometry_type: GeometryType;
  readonly columns: readonly GeoColumn[];
  readonly feature_count: number;
  readonly bounds: Bounds | null;
  readonly job_id: string | null;
  readonly published_at: Date;
}

const fields = `table_name, load_id, form, geometry_type, columns, feature_count, bounds, job_id,
  published_at`;

export async function findGeoTable(db: Queryable, name: string): Promise<GeoTable | undefined> {
  const { rows } = await db.query<GeoTable>(
    `SELECT ${fields} FROM dagapp.geo_tables WHERE table_name = $1`,
    [name],
    "geo_find_table",
  );
  return rows[0];
}

/** A condition for a statement that reads more: the table was not loaded again. */
export function isSameLoad({ table_name, load_id }: GeoTable, values: Conditions): string {
  return `EXISTS (SELECT FROM dagapp.geo_tables
    WHERE table_name = ${values.value(table_name)} AND load_id = ${values.value(load_id)})`;
}

/** By name; tables that are gone are left out. */
export async function findGeoTables(
  db: Queryable,
  names: readonly string[],
): Promise<ReadonlyMap<string, GeoTable>> {
  const { rows } = await db.query<GeoTable>(
    `SELECT ${fields} FROM dagapp.geo_tables WHERE table_name = ANY ($1::text[])`,
    [names],
  );
  return new Map(rows.map((table) => [table.table_name, table]));
}

/** The tables that one load published. */
export async function findPublished(db: Queryable, loadId: string): Promise<GeoTable[]> {
  const { rows } = await db.query<GeoTable>(
    `SELECT ${fields} FROM dagapp.geo_tables WHERE load_id = $1 ORDER BY table_name`,
    [loadId],
  );
  return rows;
}

export async function hasPostgis(db: Queryable): Promise<boolean> {
  const { rows } = await db.query("SELECT FROM pg_extension WHERE extname = 'postgis'");
  return rows.length > 0;
}
