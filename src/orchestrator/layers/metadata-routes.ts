import { z } from "zod";
import { decodeCursor, encodeCursor } from "../../adapters/http/cursor.ts";
import type { Handlers } from "../../adapters/http/handler.ts";
import { Answer } from "../../adapters/http/handler.ts";
import type { Database } from "../../adapters/postgres/database.ts";
import { findAsset } from "../../adapters/postgres/queries/asset-rows.ts";
import { listLayers } from "../../adapters/postgres/queries/layer-metadata.ts";
import type { metadataContracts } from "../../core/api/metadata.ts";
import { assetMissing } from "../assets/change-asset.ts";
import type { AssetDeps } from "../assets/deps.ts";
import { auditContextOf, etag } from "../audit-context.ts";
import { viewerOf } from "./check-clearance.ts";
import {
  deleteLayerMetadata,
  putLayerMetadata,
  putVersionStyle,
  requireMetadata,
} from "./layer-metadata.ts";

const id = z.tuple([z.string().max(32)]);

interface MetadataRouteDeps {
  readonly db: Database;
  readonly assets: AssetDeps;
}

export function metadataRoutes({
  db,
  assets,
}: MetadataRouteDeps): Handlers<typeof metadataContracts> {
  return {
    getLayerMetadata: async ({ params: { asset_id } }) => {
      if ((await findAsset(db, asset_id)) === undefined) throw assetMissing(asset_id);
      const metadata = await requireMetadata(assets, asset_id);
      return new Answer(metadata, { headers: etag(metadata.row_version) });
    },

    putLayerMetadata: async (request) => {
      const { params, body } = request;
      const audit = auditContextOf(request, undefined);
      const { metadata, created } = await putLayerMetadata(assets, params.asset_id, body, audit);
      const headers = etag(metadata.row_version);
      return new Answer(metadata, { status: created ? 201 : 200, headers });
    },

    putVersionStyle: async (request) => {
      const { params, body } = request;
      const audit = auditContextOf(request, undefined);
      return putVersionStyle(assets, params.asset_id, params.version_ordinal, body.style, audit);
    },

    deleteLayerMetadata: async (request) => {
      await deleteLayerMetadata(
        assets,
        request.params.asset_id,
        auditContextOf(request, undefined),
      );
      return { deleted: true };
    },

    listLayers: async ({ caller, query: { limit, cursor, ...filter } }) => {
      const [after] = decodeCursor(cursor, id) ?? [];
      const { layers, next } = await listLayers(db, viewerOf(caller), filter, limit, after);
      return { items: layers, next_cursor: next === null ? null : encodeCursor([next]) };
    },
  };
}
