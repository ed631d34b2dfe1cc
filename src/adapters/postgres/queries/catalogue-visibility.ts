/**
 * The condition for items that a viewer may see. An item of a version is visible to those viewers to
 * whom the version is served at the address of its asset. An item of an operator is visible to every
 * viewer with read access. An item without an owner is visible to curators only.
 */
import type { Viewer } from "../../../core/domain/served-version.ts";
import { clearancesVisibleTo } from "../../../core/domain/served-version.ts";

/**
 * How many items a query reads. For a few items each is looked up by an index. For all items it is
 * cheaper to read all governed versions once; the planner chooses that for a page too (24 ms
 * instead of 1 ms at 5,000 versions) unless an OFFSET prevents it.
 */
export type Reach = "few" | "all";

/** The same rule as `servedVersion`, on `version` and `asset`. */
export function servedTo(viewer: Viewer): string {
  const clearances = clearancesVisibleTo(viewer).map((each) => `'${each}'`);
  return `version.approval_state = 'approved' AND version.deleted_at IS NULL
    AND version.served_revision IS NOT NULL AND asset.deleted_at IS NULL
    AND (asset.exposure = 'all-versions'
      OR version.version_ordinal = asset.latest_approved_version_ordinal)
    AND asset.clearance_state IN (${clearances.join(", ")})`;
}

/** A condition on `items`; undefined for a viewer who sees all items. */
export function visibleTo(viewer: Viewer, reach: Reach): string | undefined {
  if (viewer.curates) return undefined;
  const served = `EXISTS (SELECT FROM dagapp.asset_versions AS version
    JOIN dagapp.geospatial_assets AS asset USING (asset_id)
    WHERE version.asset_id = items.asset_id AND version.version_ordinal = items.version_ordinal
      AND ${servedTo(viewer)} ${reach === "few" ? "OFFSET 0" : ""})`;
  return viewer.reads ? `(items.is_operators OR ${served})` : served;
}

/** Whether a collection has items that this condition hides. */
export function hidesSome(visible: string, collection: string): string {
  return `EXISTS (SELECT FROM dagapp.stac_items AS items
    WHERE items.collection_id = ${collection} AND NOT items.is_operators AND NOT ${visible})`;
}
