import { z } from "zod";
import { decodeCursor, encodeCursor } from "../../adapters/http/cursor.ts";
import type { Handlers } from "../../adapters/http/handler.ts";
import { Answer } from "../../adapters/http/handler.ts";
import type { Database } from "../../adapters/postgres/database.ts";
import {
  findAsset,
  readAssetEvents,
  readRevisions,
  readVersions,
} from "../../adapters/postgres/queries/asset-rows.ts";
import { listAssets } from "../../adapters/postgres/queries/assets.ts";
import { cut } from "../../adapters/postgres/queries/conditions.ts";
import { findLayerMetadata } from "../../adapters/postgres/queries/layer-metadata.ts";
import { listRequests } from "../../adapters/postgres/queries/requests.ts";
import type { Asset } from "../../core/api/asset-schemas.ts";
import type { assetContracts } from "../../core/api/assets.ts";
import type { requestContracts } from "../../core/api/requests.ts";
import { previewUrls, servedUrls } from "../../core/domain/service-urls.ts";
import { Problem } from "../../core/errors.ts";
import type { JsonObject } from "../../core/model/json.ts";
import { isJsonObject } from "../../core/model/json.ts";
import { auditContextOf, etag } from "../audit-context.ts";
import type { Verbs } from "../jobs/verbs.ts";
import { processAgain, rollbackVersion } from "./add-revision.ts";
import { assetMissing, versionOf } from "./change-asset.ts";
import type { AssetDeps } from "./deps.ts";
import { exportVersion } from "./export-version.ts";
import { accepted, requestRoutes, timeAndId } from "./request-routes.ts";
import { approveVersion, rejectVersion, withdrawVersion } from "./review-version.ts";
import { setClearance, setExposure } from "./set-clearance.ts";
import { unpublishAsset, unpublishVersion } from "./unpublish.ts";

const sequence = z.tuple([z.number().int().min(0)]);

export interface AssetRouteDeps {
  readonly db: Database;
  readonly assets: AssetDeps;
  readonly verbs: Verbs;
}

export function assetRoutes(
  deps: AssetRouteDeps,
): Handlers<typeof assetContracts> & Handlers<typeof requestContracts> {
  const { db, assets } = deps;

  async function readAsset(assetId: string): Promise<Asset> {
    const asset = await findAsset(db, assetId);
    if (asset === undefined) throw assetMissing(assetId);
    const versions = await readVersions(db, assetId);
    const services = servedUrls(asset, versions);
    const display_name = (await findLayerMetadata(db, assetId))?.display_name ?? null;
    return { ...asset, display_name, versions, services, previews: previewUrls(versions) };
  }

  async function answer(assetId: string): Promise<Answer> {
    const asset = await readAsset(assetId);
    return new Answer(asset, { headers: etag(asset.row_version) });
  }

  return {
    ...requestRoutes(deps),

    listAssets: async ({ query: { limit, cursor, refs, deleted, ...filter } }) => {
      const after = decodeCursor(cursor, timeAndId);
      const page = await listAssets(
        db,
        { ...filter, refs: parseRefs(refs), deleted: deleted === "true" },
        limit,
        after && { updated_at: after[0], asset_id: after[1] },
      );
      const { next } = page;
      const next_cursor = next && encodeCursor([next.updated_at, next.asset_id]);
      return { items: page.assets, next_cursor };
    },

    getAsset: async ({ params }) => answer(params.asset_id),

    listAssetEvents: async ({ params, query: { limit, cursor, ...filter } }) => {
      if ((await findAsset(db, params.asset_id)) === undefined) throw assetMissing(params.asset_id);
      const [after = 0] = decodeCursor(cursor, sequence) ?? [];
      const rows = await readAssetEvents(db, params.asset_id, { ...filter, after }, limit + 1);
      const page = cut(rows, limit);
      return { items: page.rows, next_cursor: page.last && encodeCursor([page.last.event_id]) };
    },

    getAssetVersion: async ({ params: { asset_id, version_ordinal } }) => {
      if ((await findAsset(db, asset_id)) === undefined) throw assetMissing(asset_id);
      const version = versionOf(await readVersions(db, asset_id), version_ordinal);
      const { requests } = await listRequests(db, { asset_id, version_ordinal }, 100, undefined);
      const revisions = await readRevisions(db, asset_id, version_ordinal);
      return { ...version, revisions, requests };
    },

    approveVersion: async (request) => {
      const { asset_id, version_ordinal } = request.params;
      const { actor, ...approval } = request.body;
      await approveVersion(
        assets,
        asset_id,
        version_ordinal,
        approval,
        auditContextOf(request, actor),
      );
      return answer(asset_id);
    },

    rejectVersion: async (request) => {
      const { asset_id, version_ordinal } = request.params;
      const { actor, reason } = request.body;
      await rejectVersion(
        assets,
        asset_id,
        version_ordinal,
        reason,
        auditContextOf(request, actor),
      );
      return answer(asset_id);
    },

    withdrawVersion: async (request) => {
      const { asset_id, version_ordinal } = request.params;
      const { actor, reason } = request.body;
      await withdrawVersion(
        assets,
        asset_id,
        version_ordinal,
        reason,
        auditContextOf(request, actor),
      );
      return answer(asset_id);
    },

    unpublishVersion: async (request) => {
      const { asset_id, version_ordinal } = request.params;
      const { actor, reason } = request.body;
      await unpublishVersion(
        assets,
        asset_id,
        version_ordinal,
        reason,
        auditContextOf(request, actor),
      );
      return answer(asset_id);
    },

    unpublishAsset: async (request) => {
      const { asset_id } = request.params;
      const { actor, reason } = request.body;
      await unpublishAsset(assets, asset_id, reason, auditContextOf(request, actor));
      return answer(asset_id);
    },

    resubmitVersion: async (request) => {
      const { asset_id, version_ordinal } = request.params;
      const { actor = request.body.submitted_by, ...wanted } = request.body;
      const audit = auditContextOf(request, actor);
      const kind = "resubmit";
      return accepted(
        await processAgain(assets, asset_id, version_ordinal, { kind, ...wanted }, audit),
      );
    },

    reprocessVersion: async (request) => {
      const { asset_id, version_ordinal } = request.params;
      const { actor = request.body.submitted_by, ...wanted } = request.body;
      const audit = auditContextOf(request, actor);
      const kind = "reprocess";
      return accepted(
        await processAgain(assets, asset_id, version_ordinal, { kind, ...wanted }, audit),
      );
    },

    rollbackVersion: async (request) => {
      const { asset_id, version_ordinal } = request.params;
      const { actor, to_revision } = request.body;
      const audit = auditContextOf(request, actor);
      await rollbackVersion(assets, asset_id, version_ordinal, to_revision, audit);
      return answer(asset_id);
    },

    exportVersion: async (request) => {
      const { asset_id, version_ordinal } = request.params;
      await exportVersion(
        assets,
        asset_id,
        version_ordinal,
        auditContextOf(request, request.body.actor),
      );
      return answer(asset_id);
    },

    setClearance: async (request) => {
      const { asset_id } = request.params;
      const { actor, ...change } = request.body;
      await setClearance(assets, asset_id, change, auditContextOf(request, actor));
      return answer(asset_id);
    },

    setExposure: async (request) => {
      const { asset_id } = request.params;
      await setExposure(
        assets,
        asset_id,
        request.body.exposure,
        auditContextOf(request, request.body.actor),
      );
      return answer(asset_id);
    },
  };
}

function parseRefs(text: string | undefined): JsonObject | undefined {
  if (text === undefined) return undefined;
  try {
    const parsed: unknown = JSON.parse(text);
    if (isJsonObject(parsed)) return parsed;
  } catch {
    // Not JSON: refused below.
  }
  throw new Problem("BAD_REQUEST", "The references must be a JSON object.", [
    { pointer: "/query/refs", code: "REFS", message: 'must be such as {"dataset_id":"a"}' },
  ]);
}
