import { z } from "zod";
import { decodeCursor, encodeCursor } from "../../adapters/http/cursor.ts";
import type { Handlers } from "../../adapters/http/handler.ts";
import { findPlatform } from "../../adapters/postgres/queries/gateway-platforms.ts";
import { listRequests } from "../../adapters/postgres/queries/gateway-requests.ts";
import type { partnerPlatformContracts } from "../../core/api/gateway/platform.ts";
import { sourcePrefixesOf } from "../../core/domain/preflight.ts";
import { Problem } from "../../core/errors.ts";
import type { RouteDeps } from "./deps.ts";
import { demandPartner, demandRequest } from "./partner.ts";
import { answerSubmitted, submit, withIdempotencyKey } from "./submit.ts";

export const place = z.tuple([z.string().regex(/^\d{4}-[\d:. +-]+$/), z.string().max(64)]);

export function platformRoutes(
  deps: Pick<RouteDeps, "db" | "orchestrator" | "polls" | "publicUrl">,
): Handlers<typeof partnerPlatformContracts> {
  const { db, orchestrator } = deps;
  return {
    platformSubmit: async (request) => {
      const given = withIdempotencyKey(request.body, request.header("idempotency-key"));
      return answerSubmitted(await submit(deps, request, given));
    },

    platformStatus: async ({ caller, params }) =>
      demandRequest(deps, demandPartner(caller), params.request_id),

    platformRequests: async ({ caller, query: { limit, cursor, ...filter } }) => {
      const after = decodeCursor(cursor, place);
      const { platformId } = demandPartner(caller);
      const { items, next } = await listRequests(
        db,
        platformId,
        filter,
        limit,
        after && { submitted_at: after[0], request_id: after[1] },
      );
      return { items, next_cursor: next && encodeCursor([next.submitted_at, next.request_id]) };
    },

    platformCancel: async (request) => {
      const { request_id } = request.params;
      const partner = demandPartner(request.caller);
      await demandRequest(deps, partner, request_id);
      const body = { ...request.body, actor: partner.actor() };
      await orchestrator.call(request, (client, forwarded) =>
        client.cancelRequest({ params: { request_id }, body, ...forwarded }),
      );
      return demandRequest(deps, partner, request_id);
    },

    platformInfo: async ({ caller }) => {
      const { platformId } = demandPartner(caller);
      const platform = await findPlatform(db, platformId);
      if (platform !== undefined) {
        return { ...platform, source_prefixes: [...sourcePrefixesOf(platform)] };
      }
      throw new Problem("PLATFORM_NOT_FOUND", `There is no platform "${platformId}".`);
    },
  };
}
