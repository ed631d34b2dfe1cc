import { escapeIdentifier } from "pg";
import type { Filter } from "../../../core/cql2/ast.ts";
import type { Bbox } from "../../../core/geometry/geometry.ts";
import type { GeoColumn } from "../../../core/vector/geo-table.ts";
import type { Queryable } from "../queryable.ts";
import type { Database } from "../database.ts";
import { Conditions, cut } from "./conditions.ts";
import { countRows } from "./count.ts";
import {
  geometryText,
  readValue,
  selectColumn,
  tableText,
  boundsCondition,
} from "./feature-sql.ts";
import { filterCondition } from "./feature-filter.ts";
import type { GeoTable } from "./geo-tables.ts";

export interface FeatureFilter {
  readonly bbox?: Bbox | undefined;
  readonly ids?: readonly number[] | undefined;
  readonly filter?: Filter | undefined;
}

export interface SortColumn {
  readonly name: string;
  readonly isDescending: boolean;
}

export interface FeatureQuery extends FeatureFilter {
  /** The sort keys, in this order; the feature's number follows as the last key. */
  readonly sort: readonly SortColumn[];
  /** The requested columns, in the table's order. */
  readonly columns: readonly GeoColumn[];
  readonly limit: number;
  readonly after?: FeaturePlace | undefined;
  /** Conditions that are answered for each feature, whether it meets them or not. */
  readonly asked?: readonly Filter[] | undefined;
  /** True: numbers that JSON does not have are kept. */
  readonly isForFile?: boolean | undefined;
}

/** The values of a feature's sort keys as text; the last one is its number. */
export type FeaturePlace = readonly (string | null)[];

export interface FeatureRow {
  readonly fid: number;
  readonly wkb: Uint8Array;
  readonly properties: Record<string, unknown>;
}

export interface FoundFeature extends FeatureRow {
  readonly place: FeaturePlace;
  readonly answers: readonly (boolean | null)[];
}

/** The number of keys in a place. */
export function placeSize(sort: readonly SortColumn[]): number {
  return sortKeys(sort).length;
}

export async function listFeatures(
  db: Queryable,
  table: GeoTable,
  query: FeatureQuery,
): Promise<{ features: FoundFeature[]; more: boolean }> {
  const { after, asked = [] } = query;
  const keys = sortKeys(query.sort);
  const conditions = where(table, query);
  if (after !== undefined) conditions.always(behind(table, keys, after, conditions));
  const answers = asked.map((each) => filterCondition(table, each, conditions));
  const place = keys.map(({ name }) => `${escapeIdentifier(name)}::text`);
  const order = keys.map(
    ({ name, isDescending }) =>
      `${escapeIdentifier(name)} ${isDescending ? "DESC" : "ASC"} NULLS LAST`,
  );
  const limit = conditions.value(query.limit + 1);
  // The aliases contain a colon, which no column's name has.
  const { rows } = await db.query<Record<string, unknown>>(
    `SELECT ${select(table, query.columns)}, ARRAY[${place.join(", ")}] AS "row:place",
       ARRAY[${answers.join(", ")}]::boolean[] AS "row:answers"
     FROM ${tableText(table)} WHERE ${conditions.toString()}
     ORDER BY ${order.join(", ")} LIMIT ${limit}`,
    conditions.values,
  );
  const page = cut(rows, query.limit);
  return {
    features: page.rows.map((row) => ({
      ...toFeature(row, query.columns, query.isForFile),
      place: row["row:place"] as FeaturePlace,
      answers: row["row:answers"] as (boolean | null)[],
    })),
    more: page.last !== null,
  };
}

/** The feature's number makes every order total, so keys after it have no effect. */
function sortKeys(sort: readonly SortColumn[]): readonly SortColumn[] {
  const number = sort.findIndex(({ name }) => name === "fid");
  if (number >= 0) return sort.slice(0, number + 1);
  return [...sort, { name: "fid", isDescending: false }];
}

/**
 * The condition for features after a place: greater in the first key, or equal there and greater in
 * the next. Nulls come last.
 */
function behind(
  table: GeoTable,
  keys: readonly SortColumn[],
  place: FeaturePlace,
  conditions: Conditions,
): string {
  const bounds = keys.map(({ name, isDescending }, index) => {
    const column = escapeIdentifier(name);
    const text = place[index] ?? null;
    if (text === null) return { equal: `${column} IS NULL`, after: "false" };
    const type = table.columns.find((each) => each.name === name)?.type ?? "bigint";
    const value = `${conditions.value(text)}::text::${type}`;
    const beyond = `${column} ${isDescending ? "<" : ">"} ${value}`;
    const after = name === "fid" ? beyond : `(${beyond} OR ${column} IS NULL)`;
    return { equal: `${column} = ${value}`, after };
  });
  const steps = bounds.map(({ after }, index) => {
    const before = bounds.slice(0, index).map(({ equal }) => equal);
    return `(${[...before, after].join(" AND ")})`;
  });
  return `(${steps.join(" OR ")})`;
}

/**
 * The number of features on all pages: counted if there is a filter, otherwise known from the
 * table's row.
 */
export async function countFeatures(
  db: Database,
  table: GeoTable,
  query: FeatureFilter,
): Promise<number | undefined> {
  if (query.bbox === undefined && query.ids === undefined && query.filter === undefined) {
    return table.feature_count;
  }
  const conditions = where(table, query);
  return countRows(
    db,
    `FROM ${tableText(table)} WHERE ${conditions.toString()}`,
    conditions.values,
  );
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

function where(table: GeoTable, { bbox, ids, filter }: FeatureFilter): Conditions {
  const conditions = new Conditions();
  if (bbox !== undefined) conditions.always(boundsCondition(table, bbox, conditions));
  conditions.add("fid = ANY (?::bigint[])", ids);
  if (filter !== undefined) conditions.always(filterCondition(table, filter, conditions));
  return conditions;
}

function toFeature(
  row: Record<string, unknown>,
  columns: readonly GeoColumn[],
  isForFile?: boolean,
): FeatureRow {
  return {
    fid: row["fid"] as number,
    wkb: row["geom"] as Uint8Array,
    properties: Object.fromEntries(
      columns.map(({ name, type }) => [name, readValue(type, row[name], isForFile)]),
    ),
  };
}
