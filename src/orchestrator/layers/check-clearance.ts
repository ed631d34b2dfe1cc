/**
 * Checks who may see a layer or an item of the catalogue. Approval, clearance and exposure are read
 * with every request and never cached, so a withdrawal takes effect with its commit.
 *
 * By the address of an asset, `servedVersion` in core/domain/served-version.ts decides. By the address
 * of a catalogue item or collection, the same rule stands as a condition in the queries, because lists
 * and searches need it there: adapters/postgres/queries/catalogue-visibility.ts. Both get the
 * clearances that a viewer may see from `clearancesVisibleTo`.
 *
 * What is hidden and what does not exist answer alike, so that guessing an address reveals nothing.
 */
import type { Caller } from "../../adapters/http/handler.ts";
import { findAsset, readVersions } from "../../adapters/postgres/queries/asset-rows.ts";
import {
  findCollection,
  hasCollection,
} from "../../adapters/postgres/queries/catalogue-collections.ts";
import { findItem } from "../../adapters/postgres/queries/catalogue-items.ts";
import type { Queryable } from "../../adapters/postgres/queryable.ts";
import type { AssetVersion } from "../../core/api/asset-schemas.ts";
import type { StacCollection, StacItem } from "../../core/catalogue/stac.ts";
import type { Viewer, WantedVersion } from "../../core/domain/served-version.ts";
import { previewedVersion, servedVersion } from "../../core/domain/served-version.ts";
import type { ErrorCode } from "../../core/errors.ts";
import { Problem } from "../../core/errors.ts";

export interface CollectionRequest {
  readonly params: { readonly collection_id: string };
  readonly caller: Caller | undefined;
}

export interface ItemRequest {
  readonly params: { readonly collection_id: string; readonly item_id: string };
  readonly caller: Caller | undefined;
}

export interface WantedLayer {
  readonly asset_id: string;
  readonly version: WantedVersion;
  /** A curator looks at a version before approving it. */
  readonly preview: boolean;
}

export function viewerOf(caller: Caller | undefined): Viewer {
  const may = caller?.access ?? [];
  return { reads: may.includes("read"), curates: may.includes("curate") };
}

/** The version that is served to this viewer at the address of an asset. */
export async function findServedVersion(
  db: Queryable,
  { asset_id, version, preview }: WantedLayer,
  viewer: Viewer,
): Promise<AssetVersion> {
  const [asset, versions] = [await findAsset(db, asset_id), await readVersions(db, asset_id)];
  const found = preview
    ? previewedVersion(versions, version, viewer)
    : servedVersion(asset, versions, version, viewer);
  if (found instanceof Problem) throw found;
  return found;
}

export async function requireItem(
  db: Queryable,
  { params, caller }: ItemRequest,
): Promise<StacItem> {
  const viewer = viewerOf(caller);
  const item = await findItem(db, viewer, params.collection_id, params.item_id);
  if (item !== undefined) return item;
  const detail = `"${params.collection_id}" has no item "${params.item_id}".`;
  throw hiddenOrMissing(viewer, "ITEM_NOT_FOUND", detail);
}

/** With its extent, which the database computes from the items. */
export async function requireCollection(
  db: Queryable,
  { params, caller }: CollectionRequest,
): Promise<StacCollection> {
  const viewer = viewerOf(caller);
  const collection = await findCollection(db, viewer, params.collection_id);
  if (collection === undefined) throw collectionMissing(viewer, params.collection_id);
  return collection;
}

/** The same check without the extent, which takes longer than a tile may. */
export async function checkCollection(
  db: Queryable,
  { params, caller }: CollectionRequest,
): Promise<void> {
  const viewer = viewerOf(caller);
  if (await hasCollection(db, viewer, params.collection_id)) return;
  throw collectionMissing(viewer, params.collection_id);
}

function collectionMissing(viewer: Viewer, collectionId: string): Problem {
  const detail = `There is no collection "${collectionId}".`;
  return hiddenOrMissing(viewer, "COLLECTION_NOT_FOUND", detail);
}

export function hiddenOrMissing({ reads }: Viewer, code: ErrorCode, detail: string): Problem {
  return reads
    ? new Problem(code, detail)
    : new Problem("UNAUTHENTICATED", "Only what is public is served without a token.");
}
