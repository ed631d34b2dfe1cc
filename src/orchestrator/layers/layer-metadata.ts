import { findLayerMetadata } from "../../adapters/postgres/queries/layer-metadata.ts";
import {
  deleteLayerMetadata as remove,
  writeLayerMetadata,
} from "../../adapters/postgres/repositories/layer-metadata.ts";
import type { LayerMetadata } from "../../core/api/metadata.ts";
import { Problem } from "../../core/errors.ts";
import type { LayerMetadataEdit } from "../../core/serving/style.ts";
import { changeAsset, refuseStale } from "../assets/change-asset.ts";
import type { Act, DomainDeps } from "../assets/deps.ts";

/** If-Match is about the metadata here and not about its asset. */
export async function putLayerMetadata(
  deps: DomainDeps,
  assetId: string,
  edit: LayerMetadataEdit,
  { ifMatch, ...act }: Act,
): Promise<{ readonly metadata: LayerMetadata; readonly created: boolean }> {
  let created = false;
  await changeAsset(deps, assetId, act, async ({ tx, record }) => {
    const before = await findLayerMetadata(tx, assetId);
    created = before === undefined;
    if (before !== undefined && ifMatch === undefined) {
      throw new Problem(
        "EDIT_NEEDS_MATCH",
        "There is metadata already: send its row_version in If-Match to replace it.",
      );
    }
    refuseStale(before?.row_version ?? 0, ifMatch);
    writeLayerMetadata(tx, assetId, edit, act.actor);
    record("metadata_changed", undefined, { display_name: edit.display_name });
  });
  return { metadata: await demandMetadata(deps, assetId), created };
}

export async function deleteLayerMetadata(
  deps: DomainDeps,
  assetId: string,
  { ifMatch, ...act }: Act,
): Promise<void> {
  await changeAsset(deps, assetId, act, async ({ tx, record }) => {
    const before = await findLayerMetadata(tx, assetId);
    if (before === undefined) throw metadataMissing(assetId);
    refuseStale(before.row_version, ifMatch);
    remove(tx, assetId);
    record("metadata_deleted", undefined);
  });
}

export async function demandMetadata(
  { db }: Pick<DomainDeps, "db">,
  assetId: string,
): Promise<LayerMetadata> {
  const found = await findLayerMetadata(db, assetId);
  if (found === undefined) throw metadataMissing(assetId);
  return found;
}

export function metadataMissing(assetId: string): Problem {
  return new Problem("METADATA_NOT_FOUND", `The asset "${assetId}" has no layer metadata.`);
}
