import { findLayerMetadata } from "../../adapters/postgres/queries/layer-metadata.ts";
import {
  deleteLayerMetadata as deleteRow,
  writeLayerMetadata,
} from "../../adapters/postgres/repositories/layer-metadata.ts";
import type { LayerMetadata } from "../../core/api/metadata.ts";
import { Problem } from "../../core/errors.ts";
import type { LayerMetadataEdit } from "../../core/serving/style.ts";
import { changeAsset } from "../assets/change-asset.ts";
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
