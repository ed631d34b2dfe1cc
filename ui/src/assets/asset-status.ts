import type { AssetListed, AssetVersion } from "../../../src/core/api/asset-schemas.ts";
import type { JsonObject } from "../../../src/core/model/json.ts";
import type { Status } from "../shared/status.ts";

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

/** Does it have something that a map can show? */
export function hasLayer({ served_revision, blob_path, table_name }: AssetVersion): boolean {
  return served_revision !== null && (blob_path !== null || table_name !== null);
}

/**
 * Where a version's layer is described, or one of its parts. A curator sees what is not approved;
 * everybody else asks for what is served, and is told if it is not.
 */
export function layerAddress(
  { asset_id, version_ordinal }: Pick<AssetVersion, "asset_id" | "version_ordinal">,
  { preview, part = "" }: { readonly preview: boolean; readonly part?: string },
): string {
  const address = `/tiles/${encodeURIComponent(asset_id)}${part}?version=${version_ordinal}`;
  return preview ? `${address}&preview=true` : address;
}
