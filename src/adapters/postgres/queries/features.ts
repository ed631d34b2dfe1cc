import type { Filter } from "../../../core/cql2/ast.ts";
import type { Bbox } from "../../../core/catalogue/geometry.ts";
import type { GeoColumn } from "../../../core/vector/geo-table.ts";
import { quoteName } from "../identifier.ts";
import type { Queryable } from "../queryable.ts";
import { Conditions } from "./conditions.ts";
import { geometryText, readValue, selectColumn, tableText } from "./feature-columns.ts";
import { filterCondition } from "./feature-filter.ts";
import { boundsCondition } from "./feature-place.ts";
import type { GeoTable } from "./geo-tables.ts";

export interface FeatureQuery {
  readonly bbox?: Bbox | undefined;
  readonly ids?: readonly number[] | undefined;
  readonly filter?: Filter | undefined;
  /** In this order; then by number. */
  readonly sort: readonly { readonly name: string; readonly isDescending: boolean }[];
  /** Those that are wanted, in the table's order. */
  readonly columns: readonly GeoColumn[];
  readonly limit: number;
  readonly offset: number;
}

export interface FeatureRow {
  readonly fid: number;
  readonly wkb: Uint8Array;
  readonly properties: Record<string, unknown>;
}

export async function listFeatures(
  db: Queryable,
  table: GeoTable,
  query: FeatureQuery,
): Promise<FeatureRow[]> {
  const conditions = where(table, query);
  const order = query.sort.map(
    ({ name, isDescending }) => `${quoteName(name)} ${isDescending ? "DESC" : "ASC"} NULLS LAST`,
  );
  const limit = conditions.value(query.limit);
  const offset = conditions.value(query.offset);
  const { rows } = await db.query<Record<string, unknown>>(
    `SELECT ${select(table, query.columns)} FROM ${tableText(table)} WHERE ${conditions.toString()}
     ORDER BY ${[...order, "fid"].join(", ")} LIMIT ${limit} OFFSET ${offset}`,
    conditions.values,
  );
  return rows.map((row) => toFeature(row, query.columns));
}

/** Of all pages; counted only where something is asked for, and known otherwise. */
export async function countFeatures(
  db: Queryable,
  table: GeoTable,
  query: FeatureQuery,
): Promise<number> {
  if (query.bbox === undefined && query.ids === undefined && query.filter === undefined) {
    return table.feature_count;
  }
  const conditions = where(table, query);
  const { rows } = await db.query<{ count: number }>(
    `SELECT count(*) FROM ${tableText(table)} WHERE ${conditions.toString()}`,
    conditions.values,
  );
  return rows[0]?.count ?? 0;
}

export async function getFeature(
  db: Queryable,
  table: GeoTable,
  fid: number,
): Promise<FeatureRow | undefined> {
  const { rows } = await db.query<Record<string, unknown>>(
    `SELECT ${select(table, table.columns)} FROM ${tableText(table)} WHERE fid = $1`,
    [fid],
  );
  return rows.map((row) => toFeature(row, table.columns))[0];
}

function select(table: GeoTable, columns: readonly GeoColumn[]): string {
  return ["fid", `${geometryText(table)} AS geom`, ...columns.map(selectColumn)].join(", ");
}

function where(table: GeoTable, { bbox, ids, filter }: FeatureQuery): Conditions {
  const conditions = new Conditions();
  if (bbox !== undefined) conditions.always(boundsCondition(table, bbox, conditions));
  conditions.add("fid = ANY (?::bigint[])", ids);
  if (filter !== undefined) conditions.always(filterCondition(table, filter, conditions));
  return conditions;
}

function toFeature(row: Record<string, unknown>, columns: readonly GeoColumn[]): FeatureRow {
  return {
    fid: row["fid"] as number,
    wkb: row["geom"] as Uint8Array,
    properties: Object.fromEntries(
      columns.map(({ name, type }) => [name, readValue(type, row[name])]),
    ),
  };
}
