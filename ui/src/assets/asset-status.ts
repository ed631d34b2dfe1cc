/** How assets and versions are named and shown. */
import type { AssetListed, AssetVersion } from "../../../src/core/api/asset-schemas.ts";
import type { JsonObject } from "../../../src/core/model/json.ts";
import type { Status } from "../shared/status.tsx";

export const approvalStatus: Readonly<Record<AssetVersion["approval_state"], Status>> = {
  pending_review: "review",
  approved: "approved",
  rejected: "rejected",
};

export const processingStatus: Readonly<Record<AssetVersion["processing_state"], Status>> = {
  queued: "pending",
  processing: "running",
  completed: "completed",
  failed: "failed",
};

/** The references by which the platform identifies the asset. */
export function refsText(refs: JsonObject): string {
  return Object.entries(refs)
    .map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(" · ");
}

export function titleOf(asset: Pick<AssetListed, "display_name" | "platform_refs">): string {
  return asset.display_name ?? refsText(asset.platform_refs);
}

/** Whether the data of the version is ready and no curator has decided about it yet. */
export function waitsForReview({
  approval_state,
  processing_state,
  deleted_at,
}: AssetVersion): boolean {
  return (
    approval_state === "pending_review" && processing_state === "completed" && deleted_at === null
  );
}
