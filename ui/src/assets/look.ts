import type { AssetListed, AssetVersion } from "../../../src/core/api/asset-schemas.ts";
import type { JsonObject } from "../../../src/core/model/json.ts";
import type { Status } from "../lib/status.ts";

export const approvalLook: Readonly<Record<AssetVersion["approval_state"], Status>> = {
  pending_review: "review",
  approved: "approved",
  rejected: "rejected",
};

export const processingLook: Readonly<Record<AssetVersion["processing_state"], Status>> = {
  queued: "pending",
  processing: "running",
  completed: "completed",
  failed: "failed",
};

/** What the platform calls it: its references, one after the other. */
export function refsText(refs: JsonObject): string {
  return Object.entries(refs)
    .map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(" · ");
}

export function titleOf(asset: Pick<AssetListed, "display_name" | "platform_refs">): string {
  return asset.display_name ?? refsText(asset.platform_refs);
}

/** A version that somebody has to look at: its data is ready and nobody has decided. */
export function waitsForReview({
  approval_state,
  processing_state,
  deleted_at,
}: AssetVersion): boolean {
  return (
    approval_state === "pending_review" && processing_state === "completed" && deleted_at === null
  );
}

/** Where its tiles are described: the catalogue's item, which curators see before it is approved. */
export function tilesOf(version: AssetVersion): string | undefined {
  const { stac_collection_id: collection, stac_item_id: item } = version;
  if (collection === null || item === null) return undefined;
  return `${itemAddress(collection, item)}/WebMercatorQuad/tilejson.json`;
}

export function itemAddress(collection: string, item: string): string {
  return `/stac/collections/${encodeURIComponent(collection)}/items/${encodeURIComponent(item)}`;
}
