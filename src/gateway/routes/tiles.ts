import type { Handlers } from "../../adapters/http/handler.ts";
import { findAsset } from "../../adapters/postgres/queries/gateway-assets.ts";
import type { partnerTileContracts } from "../../core/api/gateway/tiles.ts";
import { Problem } from "../../core/errors.ts";
import { forward } from "../forward.ts";
import type { RouteDeps } from "./deps.ts";
import { demandPartner } from "./partner.ts";

export function tileRoutes({
  db,
  targets,
  forwardTimeoutMs: timeoutMs,
}: Pick<RouteDeps, "db" | "targets" | "forwardTimeoutMs">): Handlers<typeof partnerTileContracts> {
  return {
    assetsTile: async (request) => {
      const { asset_id, z, x, y: row } = request.params;
      const { platformId } = demandPartner(request.caller);
      if ((await findAsset(db, platformId, asset_id)) === undefined) {
        throw new Problem("ASSET_NOT_FOUND", `There is no asset "${asset_id}".`);
      }
      const { query } = request;
      // Checked here, because the token of the gateway itself may see previews.
      if (query.preview === "true" && request.caller?.access.includes("curate") !== true) {
        throw new Problem("FORBIDDEN", "A preview needs a key that may curate.");
      }
      const orchestrator = targets.get("orchestrator");
      if (orchestrator === undefined) throw new Error("The gateway has no orchestrator.");
      const file = row.extension === undefined ? `${row.y}` : `${row.y}.${row.extension}`;
      const path = `/tiles/${asset_id}/tiles/WebMercatorQuad/${z}/${x}/${file}`;
      const answer = await forward(orchestrator, request, {
        method: "GET",
        path,
        query,
        timeoutMs,
      });
      if (answer.status === 401 || answer.status === 403) {
        throw new Problem("UNAVAILABLE", "The platform does not let the gateway see tiles.");
      }
      return answer;
    },
  };
}
