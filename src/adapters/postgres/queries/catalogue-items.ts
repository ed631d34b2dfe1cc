import type { Box } from "../../../core/geometry/boxes.ts";
import { boxesAround } from "../../../core/geometry/boxes.ts";
import type { StacItem } from "../../../core/catalogue/stac.ts";
import type { Filter } from "../../../core/cql2/ast.ts";
import type { Viewer } from "../../../core/domain/served-version.ts";
import type { Database } from "../database.ts";
import type { Queryable } from "../queryable.ts";
import type { FilterTarget } from "./cql2.ts";
import { filterToSql } from "./cql2.ts";
import type { Reach } from "./catalogue-visibility.ts";
import { visibleTo } from "./catalogue-visibility.ts";
import { Conditions, cut } from "./conditions.ts";
import { countRows } from "./count.ts";

export interface ItemFilter {
  readonly collections?: readonly string[] | undefined;
  readonly ids?: readonly string[] | undefined;
  /** The item overlaps at least one of these boxes. */
  readonly boxes?: readonly Box[] | undefined;
  readonly start?: string | undefined;
  readonly end?: string | undefined;
  readonly filter?: Filter | undefined;
  /** The items of features, which stand in a table. */
  readonly hasTable?: true;
  /** The items of one version of an asset. */
  readonly version?: VersionKey | undefined;
}

interface VersionKey {
  readonly asset_id: string;
  readonly version_ordinal: number;
}

export interface SortKey {
  /** `id`, `collection`, or the path of another value in the item. */
  readonly path: readonly string[];
  readonly descending: boolean;
}

/** The values of an item's sort keys as text, and then the ids that make them unique. */
export type ItemPlace = readonly string[];

/**
 * Returns the relation to read items from and adds the conditions that it needs. Every read of
 * items uses it, so that what a viewer may see is decided in one place.
 */
export function visibleItems(where: Conditions, viewer: Viewer, reach: Reach = "few"): string {
  const condition = visibleTo(viewer, reach);
  if (condition !== undefined) where.always(condition);
  return "dagapp.stac_items AS items";
}

export async function findItem(
  db: Queryable,
  viewer: Viewer,
  collectionId: string,
  itemId: string,
): Promise<StacItem | undefined> {
  const where = new Conditions();
  const from = visibleItems(where, viewer);
  where.add("items.collection_id = ?", collectionId).add("items.item_id = ?", itemId);
  const { rows } = await db.query<{ item: StacItem }>(
    `SELECT items.item FROM ${from} WHERE ${where.toString()}`,
    where.values,
    `catalogue_find_item_${rightsOf(viewer)}`,
  );
  return rows[0]?.item;
}

/** The transaction that wrote a row and its place change with every update. */
const versionOfRow = "items.xmin::text || items.ctid::text";

/** The version of an item's row, and the item unless its row still has the `known` version. */
export async function findChangedItem(
  db: Queryable,
  viewer: Viewer,
  { collectionId, itemId }: { readonly collectionId: string; readonly itemId: string },
  known: string,
): Promise<{ readonly version: string; readonly item: StacItem | null } | undefined> {
  const where = new Conditions();
  const from = visibleItems(where, viewer);
  where.add("items.collection_id = ?", collectionId).add("items.item_id = ?", itemId);
  const { rows } = await db.query<{ version: string; item: StacItem | null }>(
    `SELECT ${versionOfRow} AS version,
       CASE WHEN ${versionOfRow} <> ${where.value(known)} THEN items.item END AS item
     FROM ${from} WHERE ${where.toString()}`,
    where.values,
    `catalogue_find_changed_item_${rightsOf(viewer)}`,
  );
  return rows[0];
}

/** An item as it was read, and who asks for it. */
export interface KnownItem {
  readonly viewer: Viewer;
  readonly collectionId: string;
  readonly itemId: string;
  readonly version: string;
}

/** A condition for a statement that reads more: the viewer may see the item, and it is unchanged. */
export function isUnchanged(item: KnownItem, values: unknown[]): string {
  const where = new Conditions(values);
  const from = visibleItems(where, item.viewer);
  where
    .add("items.collection_id = ?", item.collectionId)
    .add("items.item_id = ?", item.itemId)
    .add(`${versionOfRow} = ?`, item.version);
  return `EXISTS (SELECT FROM ${from} WHERE ${where.toString()})`;
}

/** A viewer's rights decide the text of a statement, and so the name of the prepared one. */
export function rightsOf({ reads, curates }: Viewer): string {
  return `${reads ? "reads" : ""}_${curates ? "curates" : ""}`;
}

/** All items of a version, in the order of their ids. */
export async function itemsOfVersion(
  db: Queryable,
  viewer: Viewer,
  { asset_id, version_ordinal }: VersionKey,
): Promise<readonly StacItem[]> {
  const filter = { version: { asset_id, version_ordinal } };
  const sort = [{ path: ["id"], descending: false }];
  const found: StacItem[] = [];
  let after: ItemPlace | undefined;
  for (;;) {
    const page = await searchItems(db, viewer, { filter, sort, limit: 500, after, few: true });
    found.push(...page.items.map(({ item }) => item));
    after = page.items.at(-1)?.place;
    if (!page.more) return found;
  }
}

export interface FoundItem {
  readonly item: StacItem;
  readonly place: ItemPlace;
  /** The answers to the `asked` conditions, in their order. */
  readonly answers: readonly (boolean | null)[];
}

export interface ItemSearch {
  readonly filter: ItemFilter;
  readonly sort: readonly SortKey[];
  readonly limit: number;
  readonly after?: ItemPlace | undefined;
  /** The filter finds so few items that sorting them is faster than walking all items in order. */
  readonly few?: boolean;
  /** Conditions that are answered for each item, whether it meets them or not. */
  readonly asked?: readonly Filter[] | undefined;
}

export async function searchItems(
  db: Queryable,
  viewer: Viewer,
  { filter, sort, limit, after, few = false, asked = [] }: ItemSearch,
): Promise<{ items: FoundItem[]; more: boolean }> {
  const where = new Conditions();
  const all = visibleItems(where, viewer);
  narrow(where, filter);
  const found = where.toString();
  const keys = withTieBreak(sort).map((key) => ({ ...key, ...expressionOf(key, where) }));
  const rest = after === undefined ? "true" : behind(keys, after, where);
  const answers = asked.map((each) => filterToSql(each, itemTarget, where));
  const most = where.value(limit + 1);
  const place = keys.map(({ sql }) => `(${sql})::text`).join(", ");
  const order = keys
    .map(({ sql, descending }) => `${sql} ${descending ? "DESC" : "ASC"}`)
    .join(", ");
  // The planner cannot estimate boxes and would always walk all items in order; OFFSET 0 prevents
  // it.
  const from = few
    ? `(SELECT * FROM ${all} WHERE ${found} OFFSET 0) AS items WHERE true`
    : `${all} WHERE ${found}`;
  const { rows } = await db.query<FoundItem>(
    `SELECT items.item, ARRAY[${place}] AS place, ARRAY[${answers.join(", ")}]::boolean[] AS answers
     FROM ${from} AND ${rest} ORDER BY ${order} LIMIT ${most}`,
    where.values,
  );
  const page = cut(rows, limit);
  return { items: page.rows, more: page.last !== null };
}

/** Undefined: there are too many, or counting takes too long. */
export async function countItems(
  db: Database,
  viewer: Viewer,
  filter: ItemFilter,
): Promise<number | undefined> {
  const where = new Conditions();
  const from = visibleItems(where, viewer, "all");
  const { filter: condition, ...rest } = filter;
  narrow(where, rest);
  const found = `FROM ${from} WHERE ${where.toString()}`;
  if (condition === undefined) return countRows(db, found, where.values);
  const matching = { relation: "items", condition: filterToSql(condition, itemTarget, where) };
  return countRows(db, found, where.values, matching);
}

function narrow(where: Conditions, filter: ItemFilter): void {
  where
    .add("items.collection_id = ANY(?::text[])", filter.collections)
    .add("items.item_id = ANY(?::text[])", filter.ids)
    .add("items.ends_at >= ?::timestamptz", filter.start)
    .add("items.starts_at <= ?::timestamptz", filter.end)
    .add("items.asset_id = ?", filter.version?.asset_id)
    .add("items.version_ordinal = ?", filter.version?.version_ordinal);
  // As the condition of its partial index.
  if (filter.hasTable === true) where.always("items.tables <> '{}'");
  if (filter.boxes !== undefined) where.always(inOneOf(filter.boxes, where));
  if (filter.filter !== undefined) where.always(filterToSql(filter.filter, itemTarget, where));
}

function inOneOf(boxes: readonly Box[], where: Conditions): string {
  const tests = boxes.map(([west, south, east, north]) => {
    const box = `${where.value(`(${west},${south}),(${east},${north})`)}::box`;
    // Never null, because it may stand under a NOT; and in a form that an index can answer.
    return `items.box && ${box} OR (items.box_beyond IS NOT NULL AND items.box_beyond && ${box})`;
  });
  return tests.length === 0 ? "false" : `(${tests.join(" OR ")})`;
}

const itemTarget: FilterTarget = {
  nearTo: (geometry, where) => inOneOf(boxesAround(geometry), where),
  property: (name, where) => {
    switch (name) {
      case "id":
        return { sql: "items.item_id", type: "text" };
      case "collection":
        return { sql: "items.collection_id", type: "text" };
      case "datetime":
      case "properties.datetime":
        return { sql: "items.starts_at", type: "moment", ends: "items.ends_at" };
      default: {
        const key = where.value(name.replace(/^properties\./, ""));
        return { sql: `(items.properties -> ${key}::text)`, type: "json" };
      }
    }
  },
};

interface KeyExpression {
  readonly sql: string;
  readonly type: string;
}

/** Without a unique last key, items with equal keys could change places between two pages. */
function withTieBreak(sort: readonly SortKey[]): readonly SortKey[] {
  const given =
    sort.length === 0 ? [{ path: ["properties", "datetime"], descending: true }] : [...sort];
  return [
    ...given,
    { path: ["collection"], descending: false },
    { path: ["id"], descending: false },
  ];
}

function expressionOf({ path }: SortKey, where: Conditions): KeyExpression {
  const name = path.join(".");
  if (name === "id") return { sql: "items.item_id", type: "text" };
  if (name === "collection") return { sql: "items.collection_id", type: "text" };
  if (name === "properties.datetime" || name === "datetime") {
    return { sql: "items.starts_at", type: "timestamptz" };
  }
  const [first = "", ...rest] = path;
  const at = where.value(first === "properties" ? rest : path);
  const base = first === "properties" ? "items.properties" : "items.item";
  // A missing value sorts as JSON's null, which comes first, so that a key is never SQL's null.
  return { sql: `coalesce(${base} #> ${at}::text[], 'null')`, type: "jsonb" };
}

/**
 * The condition for items after a place: greater in the first key, or equal there and greater in
 * the next key, and so on.
 */
function behind(
  keys: readonly (KeyExpression & SortKey)[],
  place: ItemPlace,
  where: Conditions,
): string {
  const bounds = keys.map(({ sql, type, descending }, index) => {
    const value = `${where.value(place[index])}::${type}`;
    const beyond = descending ? "<" : ">";
    return { equal: `${sql} = ${value}`, after: `${sql} ${beyond} ${value}` };
  });
  const steps = bounds.map(({ after }, index) => {
    const before = bounds.slice(0, index).map(({ equal }) => equal);
    return `(${[...before, after].join(" AND ")})`;
  });
  // Redundant, but the only part at which an index scan can begin.
  const first = bounds.slice(0, 1).map(({ equal, after }) => `(${after} OR ${equal}) AND `);
  return `${first.join("")}(${steps.join(" OR ")})`;
}
