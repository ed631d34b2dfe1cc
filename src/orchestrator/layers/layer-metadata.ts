import { readVersions } from "../../adapters/postgres/queries/asset-rows.ts";
import { findLayerMetadata } from "../../adapters/postgres/queries/layer-metadata.ts";
import {
  deleteLayerMetadata as deleteRow,
  writeLayerMetadata,
} from "../../adapters/postgres/repositories/layer-metadata.ts";
import { writeVersionStyle } from "../../adapters/postgres/repositories/versions.ts";
import type { AssetVersion } from "../../core/api/asset-schemas.ts";
import type { LayerMetadata } from "../../core/api/metadata.ts";
import { Problem } from "../../core/errors.ts";
import type { JsonObject } from "../../core/model/json.ts";
import type { LayerMetadataEdit, LayerStyle } from "../../core/serving/style.ts";
import { changeAsset, versionOf } from "../assets/change-asset.ts";
import type { AuditContext } from "../audit-context.ts";
import { refuseStale } from "../audit-context.ts";
import type { AssetDeps } from "../assets/deps.ts";

/** `ifMatch` is the row version of the metadata here, not that of its asset. */
export async function putLayerMetadata(
  deps: AssetDeps,
  assetId: string,
  edit: LayerMetadataEdit,
  { ifMatch, ...audit }: AuditContext,
): Promise<{ readonly metadata: LayerMetadata; readonly created: boolean }> {
  let created = false;
  await changeAsset(deps, assetId, audit, async ({ tx, record }) => {
    const before = await findLayerMetadata(tx, assetId);
    created = before === undefined;
    if (before !== undefined && ifMatch === undefined) {
      throw new Problem(
        "EDIT_NEEDS_MATCH",
        "There is metadata already: send its row_version in If-Match to replace it.",
      );
    }
    refuseStale(before?.row_version ?? 0, ifMatch);
    writeLayerMetadata(tx, assetId, edit, audit.actor);
    record("metadata_changed", undefined, { display_name: edit.display_name });
  });
  return { metadata: await requireMetadata(deps, assetId), created };
}

/**
 * Styles a version that is not approved, without an effect on what is served. The metadata must
 * exist, because the approval writes the style there.
 */
export async function putVersionStyle(
  deps: AssetDeps,
  assetId: string,
  ordinal: number,
  style: LayerStyle | null,
  audit: AuditContext,
): Promise<AssetVersion> {
  await changeAsset(deps, assetId, audit, async ({ tx, versions, record }) => {
    const version = versionOf(versions, ordinal);
    if (version.approval_state === "approved" || version.deleted_at !== null) {
      throw new Problem(
        "TRANSITION_REFUSED",
        version.deleted_at === null
          ? "The version is approved: PUT the style with the metadata of its asset."
          : "The version is deleted.",
      );
    }
    if ((await findLayerMetadata(tx, assetId)) === undefined) throw metadataMissing(assetId);
    writeVersionStyle(tx, version, style);
    record("metadata_changed", ordinal, { style: style as JsonObject | null });
  });
  return versionOf(await readVersions(deps.db, assetId), ordinal);
}

export async function deleteLayerMetadata(
  deps: AssetDeps,
  assetId: string,
  { ifMatch, ...audit }: AuditContext,
): Promise<void> {
  await changeAsset(deps, assetId, audit, async ({ tx, record }) => {
    const before = await findLayerMetadata(tx, assetId);
    if (before === undefined) throw metadataMissing(assetId);
    refuseStale(before.row_version, ifMatch);
    deleteRow(tx, assetId);
    record("metadata_deleted", undefined);
  });
}

export async function requireMetadata(
  { db }: Pick<AssetDeps, "db">,
  assetId: string,
): Promise<LayerMetadata> {
  const found = await findLayerMetadata(db, assetId);
  if (found === undefined) throw metadataMissing(assetId);
  return found;
}

export function metadataMissing(assetId: string): Problem {
  return new Problem("METADATA_NOT_FOUND", `The asset "${assetId}" has no layer metadata.`);
}
