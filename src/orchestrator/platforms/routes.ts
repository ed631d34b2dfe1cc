import type { Handlers } from "../../adapters/http/handler.ts";
import { Answer } from "../../adapters/http/handler.ts";
import { findPlatform, listPlatforms } from "../../adapters/postgres/queries/platforms.ts";
import type { platformContracts } from "../../core/api/platforms.ts";
import { Problem } from "../../core/errors.ts";
import { showCallbackSecret } from "../partner-callbacks/sign-callback.ts";
import { putPlatform } from "./put-platform.ts";
import { actOf, etag } from "../audit-context.ts";
import type { RouteDeps } from "../route-deps.ts";

export function platformRoutes(
  deps: Pick<RouteDeps, "db" | "domain">,
): Handlers<typeof platformContracts> {
  const { db, domain } = deps;
  return {
    listPlatforms: async () => ({ items: await listPlatforms(db), next_cursor: null }),

    getPlatform: async ({ params: { platform_id } }) => {
      const platform = await findPlatform(db, platform_id);
      if (platform !== undefined) {
        return new Answer(platform, { headers: etag(platform.row_version) });
      }
      throw new Problem("PLATFORM_NOT_FOUND", `There is no platform "${platform_id}".`);
    },

    putPlatform: async (request) => {
      const { params, body } = request;
      const act = actOf(request, undefined);
      const { platform, created } = await putPlatform(domain, params.platform_id, body, act);
      const headers = etag(platform.row_version);
      return new Answer(platform, { status: created ? 201 : 200, headers });
    },

    callbackSecret: async ({ params, body }) => {
      const shown = await showCallbackSecret(domain, params.platform_id, body.rotate);
      return new Answer(shown, { headers: { "cache-control": "no-store" } });
    },
  };
}
