import type { Handlers } from "../../adapters/http/handler.ts";
import { Answer } from "../../adapters/http/handler.ts";
import { listKeys } from "../../adapters/postgres/queries/platforms.ts";
import type { keyContracts } from "../../core/api/keys.ts";
import type { NewApiKey } from "./create-key.ts";
import { createKey, revokeKey, rotateKey } from "./create-key.ts";
import { actOf } from "../assets/audit-context.ts";
import type { RouteDeps } from "../route-deps.ts";

export function keyRoutes(deps: Pick<RouteDeps, "db" | "domain">): Handlers<typeof keyContracts> {
  const { db, domain } = deps;
  return {
    listKeys: async ({ query }) => ({ items: await listKeys(db, query), next_cursor: null }),
    createKey: async (request) => {
      const { actor, ...wanted } = request.body;
      return shownOnce(await createKey(domain, wanted, actOf(request, actor)));
    },
    rotateKey: async (request) => {
      const { actor, grace_seconds } = request.body;
      const { key_id } = request.params;
      return shownOnce(await rotateKey(domain, key_id, grace_seconds, actOf(request, actor)));
    },
    revokeKey: async (request) =>
      revokeKey(domain, request.params.key_id, actOf(request, request.body.actor)),
  };
}

function shownOnce(key: NewApiKey): Answer {
  return new Answer(key, { status: 201, headers: { "cache-control": "no-store" } });
}
