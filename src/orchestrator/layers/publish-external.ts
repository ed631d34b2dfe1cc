/**
 * Publishes layers and items of public assets in a second database, EXTERNAL_DATABASE_URL, and
 * withdraws them with the clearance. The two databases have no common transaction, so a row here says
 * what stands there: `reconcileExternal` repeats what failed.
 */
import {
  ensureExternalSchema,
  removeExternal,
  upsertExternal,
} from "../../adapters/postgres/external/external-catalogue.ts";
import { itemsOfVersion } from "../../adapters/postgres/queries/catalogue-items.ts";
import { findLayerMetadata } from "../../adapters/postgres/queries/layer-metadata.ts";
import {
  deletePublication,
  findStalePublications,
  writePublication,
} from "../../adapters/postgres/repositories/external-publications.ts";
import type { AssetVersion } from "../../core/api/asset-schemas.ts";
import { linkItem } from "../../core/catalogue/links.ts";
import { catalogLayer, projectToItem } from "../../core/domain/project-metadata.ts";
import { seesAll } from "../../core/domain/served-version.ts";
import { layerType, servedUrls } from "../../core/domain/service-urls.ts";
import { Problem } from "../../core/errors.ts";
import type { JsonObject } from "../../core/model/json.ts";
import type { LockedAsset } from "../assets/change-asset.ts";
import { changeAsset } from "../assets/change-asset.ts";
import type { AssetDeps } from "../assets/deps.ts";
import type { AuditContext } from "../audit-context.ts";
import { metadataMissing } from "./layer-metadata.ts";

export async function publishExternal(
  deps: AssetDeps,
  assetId: string,
  audit: AuditContext,
): Promise<JsonObject> {
  const external = requireExternal(deps);
  const metadata = await findLayerMetadata(deps.db, assetId);
  await ensureExternalSchema(external.db);
  let answer: JsonObject = {};
  await changeAsset(deps, assetId, audit, async (locked) => {
    if (metadata === undefined) throw metadataMissing(assetId);
    const latest = publicVersion(locked);
    if (latest === undefined) {
      throw new Problem(
        "TRANSITION_REFUSED",
        "Only an approved version of a public asset is published outside: clear the asset for the public first.",
      );
    }
    const { version_ordinal, served_revision: revision } = latest;
    const items = await itemsOfVersion(locked.tx, seesAll, latest);
    // Under the lock of the asset: a withdrawal of its clearance waits, and then finds the row.
    writePublication(locked.tx, {
      asset_id: assetId,
      version_ordinal,
      revision: revision ?? 1,
      published_by: audit.actor,
    });
    locked.record("metadata_published", version_ordinal, {
      where: "external",
      items: items.length,
    });
    await upsertExternal(external.db, {
      asset_id: assetId,
      version_ordinal,
      revision: revision ?? 1,
      layer_type: layerType(latest),
      layer: catalogLayer(latest, metadata, servedUrls(locked.asset, locked.versions)),
      items: items.map((item) =>
        linkItem(projectToItem(item, metadata), external.publicUrl, { curates: false }),
      ),
    });
    answer = { asset_id: assetId, version_ordinal, items: items.length };
  });
  return answer;
}

export async function unpublishExternal(
  deps: AssetDeps,
  assetId: string,
  audit: AuditContext,
): Promise<JsonObject> {
  const external = requireExternal(deps);
  await ensureExternalSchema(external.db);
  await changeAsset(deps, assetId, audit, async (locked) => {
    await removeExternal(external.db, assetId);
    deletePublication(locked.tx, assetId);
    locked.record("metadata_unpublished", undefined, { where: "external" });
  });
  return { asset_id: assetId };
}

const reconciler = { actor: "orchestrator", via: "external" };

/** Withdraws what is no longer public, and publishes again what has a newer version or revision. */
export async function reconcileExternal(deps: AssetDeps): Promise<number> {
  if (deps.external === undefined) return 0;
  const found = await findStalePublications(deps.db, 100);
  for (const { asset_id } of found) {
    try {
      await publishExternal(deps, asset_id, reconciler);
    } catch (error) {
      if (!(error instanceof Problem) || error.status >= 500) throw error;
      await unpublishExternal(deps, asset_id, reconciler);
    }
  }
  return found.length;
}

function requireExternal({ external }: AssetDeps): NonNullable<AssetDeps["external"]> {
  if (external !== undefined) return external;
  throw new Problem(
    "TRANSITION_REFUSED",
    "There is no external database: set EXTERNAL_DATABASE_URL for the orchestrator.",
  );
}

/** The version that the public sees. */
function publicVersion({ asset, versions }: LockedAsset): AssetVersion | undefined {
  if (asset.clearance_state !== "public" || asset.deleted_at !== null) return undefined;
  return versions.find(
    ({ version_ordinal }) => version_ordinal === asset.latest_approved_version_ordinal,
  );
}
