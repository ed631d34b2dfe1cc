import { z } from "zod";
import { decodeCursor, encodeCursor } from "../../adapters/http/cursor.ts";
import type { Handlers } from "../../adapters/http/handler.ts";
import { Answer } from "../../adapters/http/handler.ts";
import {
  findAsset,
  readAssetEvents,
  readRevisions,
  readVersions,
} from "../../adapters/postgres/queries/asset-rows.ts";
import { listAssets } from "../../adapters/postgres/queries/assets.ts";
import { cut } from "../../adapters/postgres/queries/conditions.ts";
import { listRequests } from "../../adapters/postgres/queries/requests.ts";
import type { Asset } from "../../core/api/asset-schemas.ts";
import type { assetContracts } from "../../core/api/assets.ts";
import { previewUrls, servedUrls } from "../../core/domain/service-urls.ts";
import { Problem } from "../../core/errors.ts";
import type { JsonObject } from "../../core/model/json.ts";
import { isJsonObject } from "../../core/model/json.ts";
import { approveVersion } from "./review-version.ts";
import { assetMissing, versionOf } from "./change-asset.ts";
import { exportVersion } from "./export-version.ts";
import { rejectVersion } from "./reject-version.ts";
import { rollbackVersion } from "./rollback-version.ts";
import { runAgain } from "./add-revision.ts";
import { setClearance } from "./set-clearance.ts";
import { setExposure } from "./set-exposure.ts";
import { unpublishAsset, unpublishVersion } from "./unpublish.ts";
import { withdrawVersion } from "./withdraw-version.ts";
import { actOf, etag } from "../audit-context.ts";
import type { RouteDeps } from "../route-deps.ts";
import { accepted, place } from "./request-routes.ts";

const number = z.tuple([z.number().int().min(0)]);

export function assetRoutes(
  deps: Pick<RouteDeps, "db" | "domain">,
): Handlers<typeof assetContracts> {
  const { db, domain } = deps;

  async function readAsset(assetId: string): Promise<Asset> {
    const asset = await findAsset(db, assetId);
    if (asset === undefined) throw assetMissing(assetId);
    const versions = await readVersions(db, assetId);
    const services = servedUrls(asset, versions);
    return { ...asset, versions, services, previews: previewUrls(versions) };
  }

  async function answer(assetId: string): Promise<Answer> {
    const asset = await readAsset(assetId);
    return new Answer(asset, { headers: etag(asset.row_version) });
  }

  return {
    listAssets: async ({ query: { limit, cursor, refs, deleted, ...filter } }) => {
      const after = decodeCursor(cursor, place);
      const { assets, next } = await listAssets(
        db,
        { ...filter, refs: parseRefs(refs), deleted: deleted === "true" },
        limit,
        after && { updated_at: after[0], asset_id: after[1] },
      );
      return { items: assets, next_cursor: next && encodeCursor([next.updated_at, next.asset_id]) };
    },

    getAsset: async ({ params }) => answer(params.asset_id),

    listAssetEvents: async ({ params, query: { limit, cursor, ...filter } }) => {
      if ((await findAsset(db, params.asset_id)) === undefined) throw assetMissing(params.asset_id);
      const [after = 0] = decodeCursor(cursor, number) ?? [];
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
      await approveVersion(domain, asset_id, version_ordinal, approval, actOf(request, actor));
      return answer(asset_id);
    },

    rejectVersion: async (request) => {
      const { asset_id, version_ordinal } = request.params;
      const { actor, reason } = request.body;
      await rejectVersion(domain, asset_id, version_ordinal, reason, actOf(request, actor));
      return answer(asset_id);
    },

    withdrawVersion: async (request) => {
      const { asset_id, version_ordinal } = request.params;
      const { actor, reason } = request.body;
      await withdrawVersion(domain, asset_id, version_ordinal, reason, actOf(request, actor));
      return answer(asset_id);
    },

    unpublishVersion: async (request) => {
      const { asset_id, version_ordinal } = request.params;
      const { actor, reason } = request.body;
      await unpublishVersion(domain, asset_id, version_ordinal, reason, actOf(request, actor));
      return answer(asset_id);
    },

    unpublishAsset: async (request) => {
      const { asset_id } = request.params;
      const { actor, reason } = request.body;
      await unpublishAsset(domain, asset_id, reason, actOf(request, actor));
      return answer(asset_id);
    },

    resubmitVersion: async (request) => {
      const { asset_id, version_ordinal } = request.params;
      const { actor = request.body.submitted_by, ...again } = request.body;
      const act = actOf(request, actor);
      const kind = "resubmit";
      return accepted(await runAgain(domain, asset_id, version_ordinal, { kind, ...again }, act));
    },

    reprocessVersion: async (request) => {
      const { asset_id, version_ordinal } = request.params;
      const { actor = request.body.submitted_by, ...again } = request.body;
      const act = actOf(request, actor);
      const kind = "reprocess";
      return accepted(await runAgain(domain, asset_id, version_ordinal, { kind, ...again }, act));
    },

    rollbackVersion: async (request) => {
      const { asset_id, version_ordinal } = request.params;
      const { actor, to_revision } = request.body;
      const act = actOf(request, actor);
      await rollbackVersion(domain, asset_id, version_ordinal, to_revision, act);
      return answer(asset_id);
    },

    exportVersion: async (request) => {
      const { asset_id, version_ordinal } = request.params;
      await exportVersion(domain, asset_id, version_ordinal, actOf(request, request.body.actor));
      return answer(asset_id);
    },

    setClearance: async (request) => {
      const { asset_id } = request.params;
      const { actor, ...change } = request.body;
      await setClearance(domain, asset_id, change, actOf(request, actor));
      return answer(asset_id);
    },

    setExposure: async (request) => {
      const { asset_id } = request.params;
      await setExposure(
        domain,
        asset_id,
        request.body.exposure,
        actOf(request, request.body.actor),
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
    // Answered below.
  }
  throw new Problem("BAD_REQUEST", "The references must be a JSON object.", [
    { pointer: "/query/refs", code: "REFS", message: 'must be such as {"dataset_id":"a"}' },
  ]);
}
