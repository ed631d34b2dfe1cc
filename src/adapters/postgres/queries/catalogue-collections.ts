import { extentOf } from "../../../core/catalogue/collection.ts";
import type { Coverage } from "../../../core/catalogue/extent.ts";
import { bboxOfCoverage } from "../../../core/catalogue/extent.ts";
import type { StacCollection, StacItem } from "../../../core/catalogue/stac.ts";
import type { Bbox } from "../../../core/geometry/geometry.ts";
import type { Viewer } from "../../../core/domain/served-version.ts";
import type { Queryable } from "../queryable.ts";
import { visibleItems } from "./catalogue-items.ts";
import { hidesSome, visibleTo } from "./catalogue-visibility.ts";
import { Conditions, cut } from "./conditions.ts";

interface CollectionRow {
  readonly collection_id: string;
  /** The collection without its extent. */
  readonly collection: StacCollection;
  readonly coverage: Coverage | null;
}

export async function findCollection(
  db: Queryable,
  viewer: Viewer,
  collectionId: string,
): Promise<StacCollection | undefined> {
  const where = new Conditions().add("collection_id = ?", collectionId);
  const rows = await readCollections(db, where, viewer, "");
  return rows[0] && toCollection(rows[0]);
}

/** Does not measure the extent. */
export async function hasCollection(
  db: Queryable,
  viewer: Viewer,
  collectionId: string,
): Promise<boolean> {
  const where = onlyVisible(new Conditions().add("collection_id = ?", collectionId), viewer);
  const { rows } = await db.query(
    `SELECT FROM dagapp.stac_collections AS collections WHERE ${where.toString()}`,
    where.values,
  );
  return rows.length > 0;
}

export async function listCollections(
  db: Queryable,
  viewer: Viewer,
  limit: number,
  after: string | undefined,
): Promise<{ collections: StacCollection[]; next: string | null }> {
  const where = new Conditions().add("collection_id > ?", after);
  const order = `ORDER BY collection_id LIMIT ${where.value(limit + 1)}`;
  const page = cut(await readCollections(db, where, viewer, order), limit);
  return { collections: page.rows.map(toCollection), next: page.last?.collection_id ?? null };
}

/**
 * Reads collections as the viewer sees them. A collection without any item that the viewer may see
 * is left out. If some of its items are hidden, only the visible ones are measured, because the
 * extent would reveal where the others lie.
 */
async function readCollections(
  db: Queryable,
  where: Conditions,
  viewer: Viewer,
  order: string,
): Promise<CollectionRow[]> {
  onlyVisible(where, viewer);
  const few = visibleTo(viewer, "few");
  const all = visibleTo(viewer, "all");
  // A viewer without a token sees few items, so their extent is measured; other viewers see nearly
  // all items, so it is measured only for collections that hide some.
  const coverage =
    few === undefined || all === undefined
      ? "coverage"
      : `CASE WHEN ${viewer.reads ? hidesSome(few, "collections.collection_id") : "true"}
           THEN (SELECT counted.coverage FROM (${coverageText(`${ofCollection} AND ${all}`)}) AS counted)
           ELSE coverage END`;
  const { rows } = await db.query<CollectionRow>(
    `SELECT collection_id, collection, ${coverage} AS coverage
     FROM dagapp.stac_collections AS collections WHERE ${where.toString()} ${order}`,
    where.values,
  );
  return rows;
}

const ofCollection = "items.collection_id = collections.collection_id";

function onlyVisible(where: Conditions, viewer: Viewer): Conditions {
  const visible = visibleTo(viewer, "few");
  if (visible === undefined) return where;
  const some = `EXISTS (SELECT FROM dagapp.stac_items AS items WHERE ${ofCollection} AND ${visible})`;
  // A collection of a platform is hidden until an item of it is visible.
  return where.always(viewer.reads ? `(is_operators AND item_count = 0 OR ${some})` : some);
}

/** A sample of the newest items, enough to see which properties exist. */
export async function sampleProperties(
  db: Queryable,
  viewer: Viewer,
  collectionId: string | undefined,
  most: number,
): Promise<StacItem["properties"][]> {
  const where = new Conditions();
  const from = visibleItems(where, viewer);
  where.add("items.collection_id = ?", collectionId);
  const limit = where.value(most);
  const { rows } = await db.query<{ properties: StacItem["properties"] }>(
    `SELECT items.properties FROM ${from}
     WHERE ${where.toString()} ORDER BY items.starts_at DESC LIMIT ${limit}`,
    where.values,
  );
  return rows.map(({ properties }) => properties);
}

/** The bounds of a version's items; undefined if it has none. */
export async function boundsOfVersion(
  db: Queryable,
  { asset_id, version_ordinal }: { readonly asset_id: string; readonly version_ordinal: number },
): Promise<Bbox | undefined> {
  const { rows } = await db.query<{ coverage: Coverage | null }>(
    coverageText("items.asset_id = $1 AND items.version_ordinal = $2"),
    [asset_id, version_ordinal],
  );
  const coverage = rows[0]?.coverage ?? null;
  return coverage === null ? undefined : bboxOfCoverage(coverage);
}

function toCollection({ collection, coverage }: CollectionRow): StacCollection {
  return { ...collection, extent: extentOf(coverage) };
}

/**
 * Measures items as one row: their number, and the area and time that they cover, in the form that
 * collections store.
 */
export function coverageText(condition: string): string {
  return `WITH covered AS (
  SELECT box, box_beyond, starts_at, ends_at FROM dagapp.stac_items AS items WHERE ${condition}
), pieces AS (
  SELECT (box[1])[0] AS west, (box[1])[1] AS south, (box[0])[0] AS east, (box[0])[1] AS north
  FROM covered
  UNION ALL
  SELECT (box_beyond[1])[0], (box_beyond[1])[1], (box_beyond[0])[0], (box_beyond[0])[1]
  FROM covered WHERE box_beyond IS NOT NULL
), measured AS (
  SELECT min(west) FILTER (WHERE west < 0) AS western_west,
    max(least(east, 0)) FILTER (WHERE west < 0) AS western_east,
    min(greatest(west, 0)) FILTER (WHERE east >= 0) AS eastern_west,
    max(east) FILTER (WHERE east >= 0) AS eastern_east,
    min(south) AS south, max(north) AS north
  FROM pieces
), spanned AS (
  SELECT count(*) AS item_count, min(starts_at) AS starts_at, max(ends_at) AS ends_at FROM covered
)
SELECT item_count, CASE WHEN item_count > 0 THEN jsonb_build_object(
  'western', CASE WHEN western_west IS NOT NULL
    THEN jsonb_build_array(western_west, western_east) END,
  'eastern', CASE WHEN eastern_west IS NOT NULL
    THEN jsonb_build_array(eastern_west, eastern_east) END,
  'south', south, 'north', north,
  'start', to_char(starts_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
  'end', to_char(ends_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) END AS coverage
FROM measured, spanned`;
}
