/**
 * The condition for items that a viewer may see: those that are served at the address of an asset
 * are visible to the same viewers, and no other items of that asset. An item belongs to a version
 * that names it, or whose request the item names: a layer of several geometry types has several
 * items, and the version names only one of them.
 */
import type { Viewer } from "../../../core/domain/served-version.ts";
import { clearancesVisibleTo } from "../../../core/domain/served-version.ts";

const ofVersion = `FROM dagapp.asset_versions AS version
  JOIN dagapp.geospatial_assets AS asset USING (asset_id)
  WHERE version.stac_collection_id = items.collection_id AND version.stac_item_id = items.item_id`;
const ofRequest = `FROM dagapp.requests AS request
  JOIN dagapp.asset_versions AS version USING (asset_id, version_ordinal)
  JOIN dagapp.geospatial_assets AS asset USING (asset_id)
  WHERE request.request_id = items.request_id`;

/**
 * How many items a query reads. For a few items each is looked up by an index. For all items it is
 * cheaper to read all governed versions once; the planner chooses that for a page too (24 ms
 * instead of 1 ms at 5,000 versions) unless an OFFSET prevents it.
 */
export type Reach = "few" | "all";
const endOf = (reach: Reach) => (reach === "few" ? "OFFSET 0" : "");

function governed(reach: Reach): string {
  return `(EXISTS (SELECT ${ofVersion} ${endOf(reach)})
    OR items.request_id IS NOT NULL AND EXISTS (SELECT ${ofRequest} ${endOf(reach)}))`;
}

/** The same rule as `servedVersion`, for many items. */
function served(clearances: readonly string[], reach: Reach): string {
  const condition = `version.approval_state = 'approved' AND version.deleted_at IS NULL
    AND version.served_revision IS NOT NULL AND asset.deleted_at IS NULL
    AND (asset.exposure = 'all-versions'
      OR version.version_ordinal = asset.latest_approved_version_ordinal)
    AND asset.clearance_state IN (${clearances.map((each) => `'${each}'`).join(", ")})`;
  return `(EXISTS (SELECT ${ofVersion} AND ${condition} ${endOf(reach)})
    OR items.request_id IS NOT NULL
      AND EXISTS (SELECT ${ofRequest} AND ${condition} ${endOf(reach)}))`;
}

/** A condition on `items`; undefined for a viewer who sees all items. */
export function visibleTo(viewer: Viewer, reach: Reach): string | undefined {
  if (viewer.curates) return undefined;
  const isServed = served(clearancesVisibleTo(viewer), reach);
  return viewer.reads ? `(NOT ${governed(reach)} OR ${isServed})` : isServed;
}

/**
 * Whether a collection has items that this condition hides. Only items of governed assets can be
 * hidden.
 */
export function hidesSome(visible: string, collection: string): string {
  return `(EXISTS (SELECT FROM dagapp.stac_items AS items
      WHERE items.collection_id = ${collection} AND items.request_id IS NOT NULL AND NOT ${visible})
    OR EXISTS (SELECT FROM dagapp.asset_versions AS named
      JOIN dagapp.stac_items AS items ON items.collection_id = named.stac_collection_id
        AND items.item_id = named.stac_item_id
      WHERE named.stac_collection_id = ${collection} AND NOT ${visible}))`;
}
