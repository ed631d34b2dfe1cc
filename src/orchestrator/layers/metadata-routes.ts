import { z } from "zod";
import { decodeCursor, encodeCursor } from "../../adapters/http/cursor.ts";
import type { Handlers } from "../../adapters/http/handler.ts";
import { Answer } from "../../adapters/http/handler.ts";
import { findAsset } from "../../adapters/postgres/queries/asset-rows.ts";
import { listLayers } from "../../adapters/postgres/queries/layer-metadata.ts";
import type { metadataContracts } from "../../core/api/metadata.ts";
import { assetMissing } from "../assets/change-asset.ts";
import { deleteLayerMetadata, demandMetadata, putLayerMetadata } from "./layer-metadata.ts";
import { actOf, etag } from "../audit-context.ts";
import type { RouteDeps } from "../route-deps.ts";

const id = z.tuple([z.string().max(32)]);

export function metadataRoutes(
  deps: Pick<RouteDeps, "db" | "domain">,
): Handlers<typeof metadataContracts> {
  const { db, domain } = deps;
  return {
    getLayerMetadata: async ({ params: { asset_id } }) => {
      if ((await findAsset(db, asset_id)) === undefined) throw assetMissing(asset_id);
      const metadata = await demandMetadata(domain, asset_id);
      return new Answer(metadata, { headers: etag(metadata.row_version) });
    },

    putLayerMetadata: async (request) => {
      const { params, body } = request;
      const act = actOf(request, undefined);
      const { metadata, created } = await putLayerMetadata(domain, params.asset_id, body, act);
      const headers = etag(metadata.row_version);
      return new Answer(metadata, { status: created ? 201 : 200, headers });
    },

    deleteLayerMetadata: async (request) => {
      await deleteLayerMetadata(domain, request.params.asset_id, actOf(request, undefined));
      return { deleted: true };
    },

    listLayers: async ({ query: { limit, cursor, ...filter } }) => {
      const [after] = decodeCursor(cursor, id) ?? [];
      const { layers, next } = await listLayers(db, filter, limit, after);
      return { items: layers, next_cursor: next === null ? null : encodeCursor([next]) };
    },
  };
}
