import { z } from "zod";
import { decodeCursor, encodeCursor } from "../../adapters/http/cursor.ts";
import type { Caller, Handlers } from "../../adapters/http/handler.ts";
import { Answer } from "../../adapters/http/handler.ts";
import {
  findAsset,
  listAssetEvents,
  listAssets,
  listRevisions,
  listVersions,
} from "../../adapters/postgres/queries/gateway-assets.ts";
import type { ServiceUrls } from "../../core/api/asset-schemas.ts";
import type { Client } from "../../core/api/client.ts";
import type { partnerAssetContracts } from "../../core/api/gateway/assets.ts";
import { Problem } from "../../core/errors.ts";
import { isJsonObject } from "../../core/model/json.ts";
import type { ForwardedHeaders, ForwardedRequest } from "../orchestrator.ts";
import type { RouteDeps } from "./deps.ts";
import type { Partner } from "./partner.ts";
import { demandPartner } from "./partner.ts";
import { place } from "./platform.ts";
import { answerSubmitted, requestOptions, toSubmitted, withIdempotencyKey } from "./submit.ts";

const number = z.tuple([z.number().int().min(0)]);

interface ToAsset extends ForwardedRequest {
  readonly caller: Caller | undefined;
  readonly params: { readonly asset_id: string };
}

export function assetRoutes(
  deps: Pick<RouteDeps, "db" | "orchestrator" | "publicUrl" | "servicesUrl">,
): Handlers<typeof partnerAssetContracts> {
  const { db, orchestrator, publicUrl } = deps;

  /** An asset of another partner is answered like one that does not exist. */
  async function demandAsset({ platformId }: Partner, assetId: string) {
    const asset = await findAsset(db, platformId, assetId);
    if (asset !== undefined) return asset;
    throw new Problem("ASSET_NOT_FOUND", `There is no asset "${assetId}".`);
  }

  async function show(partner: Partner, assetId: string): Promise<Answer> {
    const asset = await demandAsset(partner, assetId);
    const versions = await listVersions(db, partner.platformId, assetId);
    const headers = { etag: `"${asset.row_version}"` };
    return new Answer({ ...asset, versions }, { headers });
  }

  /**
   * The orchestrator decides and writes; the answer is read through the view, which has no jobs. The
   * owner of the asset is checked here, because the orchestrator allows the gateway all assets.
   */
  async function change(
    request: ToAsset,
    work: (client: Client, forwarded: ForwardedHeaders, partner: Partner) => Promise<unknown>,
  ): Promise<Answer> {
    const partner = demandPartner(request.caller);
    const { asset_id } = request.params;
    await demandAsset(partner, asset_id);
    await orchestrator.call(request, (client, forwarded) => work(client, forwarded, partner));
    return show(partner, asset_id);
  }

  return {
    assetsList: async ({ caller, query }) => {
      const { limit, cursor, refs, deleted, clearance_state, approval_state } = query;
      const { platformId } = demandPartner(caller);
      refuseWrongRefs(refs);
      const filter = { refs, clearance_state, approval_state, isDeleted: deleted === "true" };
      const found = decodeCursor(cursor, place);
      const after = found && { updated_at: found[0], asset_id: found[1] };
      const { items, next } = await listAssets(db, platformId, filter, limit, after);
      return { items, next_cursor: next && encodeCursor([next.updated_at, next.asset_id]) };
    },

    assetsGet: async ({ caller, params }) => show(demandPartner(caller), params.asset_id),

    assetsServices: async (request) => {
      const { params } = request;
      await demandAsset(demandPartner(request.caller), params.asset_id);
      const { services, previews } = await orchestrator.call(request, (client, forwarded) =>
        client.getAsset({ params, ...forwarded }),
      );
      const place = (each: ServiceUrls) => atServices(each, deps.servicesUrl);
      return { services: services.map(place), previews: previews.map(place) };
    },

    assetsEvents: async ({ caller, params, query: { limit, cursor } }) => {
      const partner = demandPartner(caller);
      await demandAsset(partner, params.asset_id);
      const [after = 0] = decodeCursor(cursor, number) ?? [];
      const { platformId } = partner;
      const rows = await listAssetEvents(db, platformId, params.asset_id, after, limit + 1);
      const items = rows.slice(0, limit);
      const last = rows.length > limit ? items.at(-1) : undefined;
      return { items, next_cursor: last === undefined ? null : encodeCursor([last.event_id]) };
    },

    assetsVersion: async ({ caller, params: { asset_id, version_ordinal } }) => {
      const partner = demandPartner(caller);
      await demandAsset(partner, asset_id);
      const { platformId } = partner;
      const [version] = await listVersions(db, platformId, asset_id, version_ordinal);
      if (version === undefined) {
        throw new Problem("VERSION_NOT_FOUND", `The asset has no version ${version_ordinal}.`);
      }
      const revisions = await listRevisions(db, platformId, asset_id, version_ordinal);
      return { ...version, revisions };
    },

    assetsApprove: async (request) =>
      change(request, (client, forwarded, partner) =>
        client.approveVersion({
          params: request.params,
          body: named(partner, request),
          ...forwarded,
        }),
      ),
    assetsReject: async (request) =>
      change(request, (client, forwarded, partner) =>
        client.rejectVersion({
          params: request.params,
          body: named(partner, request),
          ...forwarded,
        }),
      ),
    assetsWithdraw: async (request) =>
      change(request, (client, forwarded, partner) =>
        client.withdrawVersion({
          params: request.params,
          body: named(partner, request),
          ...forwarded,
        }),
      ),
    assetsUnpublishVersion: async (request) =>
      change(request, (client, forwarded, partner) =>
        client.unpublishVersion({
          params: request.params,
          body: named(partner, request),
          ...forwarded,
        }),
      ),
    assetsUnpublish: async (request) =>
      change(request, (client, forwarded, partner) =>
        client.unpublishAsset({
          params: request.params,
          body: named(partner, request),
          ...forwarded,
        }),
      ),
    assetsRollback: async (request) =>
      change(request, (client, forwarded, partner) =>
        client.rollbackVersion({
          params: request.params,
          body: named(partner, request),
          ...forwarded,
        }),
      ),
    assetsClearance: async (request) =>
      change(request, (client, forwarded, partner) =>
        client.setClearance({
          params: request.params,
          body: named(partner, request),
          ...forwarded,
        }),
      ),
    assetsExposure: async (request) =>
      change(request, (client, forwarded, partner) =>
        client.setExposure({ params: request.params, body: named(partner, request), ...forwarded }),
      ),

    assetsResubmit: async (request) => {
      const { params, body } = await again(request);
      const answer = await orchestrator.call(request, (client, forwarded) =>
        client.resubmitVersion({ params, body, ...forwarded }),
      );
      return answerSubmitted(toSubmitted(answer, publicUrl));
    },
    assetsReprocess: async (request) => {
      const { params, body } = await again(request);
      const answer = await orchestrator.call(request, (client, forwarded) =>
        client.reprocessVersion({ params, body, ...forwarded }),
      );
      return answerSubmitted(toSubmitted(answer, publicUrl));
    },
  };

  async function again<
    Request extends ToAsset & {
      readonly body: { submitted_by?: string | undefined; idempotency_key?: string | undefined };
    },
  >(request: Request) {
    const partner = demandPartner(request.caller);
    await demandAsset(partner, request.params.asset_id);
    const given = withIdempotencyKey(
      request.body as Request["body"],
      request.header("idempotency-key"),
    );
    const actor = partner.actor(given.submitted_by);
    const body = { ...given, ...requestOptions(partner, given), actor };
    return { params: request.params as Request["params"], body };
  }
}

/** Puts the public URL of the services before each path, field by field. */
function atServices(urls: ServiceUrls, base: string): ServiceUrls {
  const { version, layer_type, tiles, tilejson, map, features, stac_item } = urls;
  return {
    version,
    layer_type,
    tiles: base + tiles,
    tilejson: base + tilejson,
    map: base + map,
    features: features && base + features,
    stac_item: stac_item && base + stac_item,
  };
}

/** The body with the full name of the actor. */
function named<Body extends { readonly actor?: string | undefined }>(
  partner: Partner,
  { body }: { readonly body: Body },
): Body & { actor: string } {
  return { ...body, actor: partner.actor(body.actor) };
}

function refuseWrongRefs(refs: string | undefined): void {
  if (refs === undefined || isObjectText(refs)) return;
  throw new Problem("BAD_REQUEST", "The filter `refs` is not a JSON object.", [
    { pointer: "/query/refs", code: "REFS", message: 'must be JSON such as {"dataset_id":"a"}' },
  ]);
}

function isObjectText(text: string): boolean {
  try {
    return isJsonObject(JSON.parse(text));
  } catch {
    return false;
  }
}
