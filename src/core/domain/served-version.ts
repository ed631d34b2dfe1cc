import type { AssetSummary, AssetVersion } from "../api/asset-schemas.ts";
import { Problem } from "../errors.ts";
import type { ClearanceState } from "../model/asset.ts";

/** Who asks. Nobody in particular may see what is public. */
export interface Viewer {
  /** Has a token that may read. */
  readonly reads: boolean;
  readonly curates: boolean;
}

/** For the platform's own work, and where it was decided before who may see. */
export const seesAll: Viewer = { reads: true, curates: true };

export type WantedVersion = "latest" | number;

/**
 * The version that is served at an address, decided anew for every request: approval, clearance and
 * exposure count as they are now. What a viewer may not see and what is not there answer alike, so
 * that guessing tells nothing.
 */
export function servedVersion(
  asset: AssetSummary | undefined,
  versions: readonly AssetVersion[],
  wanted: WantedVersion,
  viewer: Viewer,
): AssetVersion | Problem {
  if (asset !== undefined && clearancesVisibleTo(viewer).includes(asset.clearance_state)) {
    const version = choose(asset, versions, wanted);
    if (version !== undefined && version.served_revision !== null) return version;
  }
  return viewer.reads
    ? new Problem("LAYER_NOT_FOUND", "No approved version is served at this address.")
    : new Problem("UNAUTHENTICATED", "Only what is public is served without a token.");
}

/** What a curator looks at before deciding: any version with outputs, approved or not. */
export function previewedVersion(
  versions: readonly AssetVersion[],
  wanted: WantedVersion,
  viewer: Viewer,
): AssetVersion | Problem {
  if (!viewer.curates) return new Problem("FORBIDDEN", "A preview needs curate access.");
  const open = versions.filter(({ deleted_at }) => deleted_at === null);
  const version =
    wanted === "latest"
      ? open.at(-1)
      : open.find(({ version_ordinal }) => version_ordinal === wanted);
  if (version !== undefined && version.served_revision !== null) return version;
  return new Problem("LAYER_NOT_FOUND", "There is no such version with outputs to preview.");
}

function choose(
  asset: AssetSummary,
  versions: readonly AssetVersion[],
  wanted: WantedVersion,
): AssetVersion | undefined {
  if (asset.deleted_at !== null) return undefined;
  const approved = versions.filter(
    ({ approval_state, deleted_at }) => approval_state === "approved" && deleted_at === null,
  );
  if (wanted === "latest") {
    return approved.reduce<AssetVersion | undefined>(
      (best, each) =>
        best === undefined || each.version_ordinal > best.version_ordinal ? each : best,
      undefined,
    );
  }
  if (asset.exposure === "latest-only") return undefined;
  return approved.find(({ version_ordinal }) => version_ordinal === wanted);
}

/**
 * The clearances of assets that a viewer may see. `servedVersion` and the condition of the catalogue's
 * queries both ask here.
 */
export function clearancesVisibleTo({ reads }: Viewer): readonly ClearanceState[] {
  return reads ? ["ouo", "public"] : ["public"];
}
