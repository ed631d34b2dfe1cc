import type { AssetSummary, AssetVersion } from "../api/asset-schemas.ts";
import { Problem } from "../errors.ts";
import type { ClearanceState } from "../model/asset.ts";

/** The rights of a caller. A caller without a token sees only what is public. */
export interface Viewer {
  /** The caller's token allows reading. */
  readonly reads: boolean;
  readonly curates: boolean;
}

/** For the platform's own work, and for callers whose rights were checked before. */
export const seesAll: Viewer = { reads: true, curates: true };

export type WantedVersion = "latest" | number;

/**
 * Chooses the version that is served at an address. It is decided for every request from the
 * current approval, clearance and exposure. A version that the viewer may not see gives the same
 * answer as one that does not exist, so that guessing an address reveals nothing.
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

/** Chooses a version for a curator's preview: any version with outputs, approved or not. */
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
