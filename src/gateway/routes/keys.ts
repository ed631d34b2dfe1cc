import type { z } from "zod";
import { decodeCursor, encodeCursor } from "../../adapters/http/cursor.ts";
import type { Handlers } from "../../adapters/http/handler.ts";
import { hasKey, listKeys } from "../../adapters/postgres/queries/gateway-keys.ts";
import type { PartnerDelivery } from "../../adapters/postgres/queries/gateway-platforms.ts";
import { listDeliveries } from "../../adapters/postgres/queries/gateway-platforms.ts";
import type { newPartnerKey, partnerKeyContracts } from "../../core/api/gateway/keys.ts";
import { Problem } from "../../core/errors.ts";
import type { RouteDeps } from "./deps.ts";
import type { Partner } from "./partner.ts";
import { demandPartner } from "./partner.ts";
import { place } from "./platform.ts";

type NewKey = z.output<typeof newPartnerKey>;

export function keyRoutes(
  deps: Pick<RouteDeps, "db" | "orchestrator">,
): Handlers<typeof partnerKeyContracts> {
  const { db, orchestrator } = deps;

  async function demandKey({ platformId }: Partner, keyId: string): Promise<void> {
    if (await hasKey(db, platformId, keyId)) return;
    throw new Problem("KEY_NOT_FOUND", `There is no key "${keyId}".`);
  }

  async function demandDelivery(partner: Partner, eventId: string): Promise<PartnerDelivery> {
    const { items } = await listDeliveries(db, partner.platformId, { event_id: eventId }, 1);
    if (items[0] !== undefined) return items[0];
    throw new Problem("DELIVERY_NOT_FOUND", `There is no delivery "${eventId}".`);
  }

  return {
    platformKeys: async ({ caller }) => {
      const { platformId } = demandPartner(caller);
      return { items: await listKeys(db, platformId), next_cursor: null };
    },

    platformCreateKey: async (request) => {
      const partner = demandPartner(request.caller);
      const owner = { platform_id: partner.platformId, actor: partner.actor() };
      const body = { ...request.body, ...owner };
      const made = await orchestrator.call(request, (client, forwarded) =>
        client.createKey({ body, ...forwarded }),
      );
      return { ...shown(made), key: made.key };
    },

    platformRotateKey: async (request) => {
      const partner = demandPartner(request.caller);
      const { params } = request;
      await demandKey(partner, params.key_id);
      const body = { ...request.body, actor: partner.actor() };
      const made = await orchestrator.call(request, (client, forwarded) =>
        client.rotateKey({ params, body, ...forwarded }),
      );
      return { ...shown(made), key: made.key };
    },

    platformRevokeKey: async (request) => {
      const partner = demandPartner(request.caller);
      const { params } = request;
      await demandKey(partner, params.key_id);
      const body = { actor: partner.actor() };
      return shown(
        await orchestrator.call(request, (client, forwarded) =>
          client.revokeKey({ params, body, ...forwarded }),
        ),
      );
    },

    platformCallbackSecret: async (request) => {
      const { platformId: platform_id } = demandPartner(request.caller);
      const { body } = request;
      const { secret } = await orchestrator.call(request, (client, forwarded) =>
        client.callbackSecret({ params: { platform_id }, body, ...forwarded }),
      );
      return { secret };
    },

    platformDeliveries: async ({ caller, query: { limit, cursor, ...filter } }) => {
      const { platformId } = demandPartner(caller);
      const found = decodeCursor(cursor, place);
      const after = found && { created_at: found[0], event_id: found[1] };
      const { items, next } = await listDeliveries(db, platformId, filter, limit, after);
      return { items, next_cursor: next && encodeCursor([next.created_at, next.event_id]) };
    },

    platformRedeliver: async (request) => {
      const partner = demandPartner(request.caller);
      const { params } = request;
      await demandDelivery(partner, params.event_id);
      await orchestrator.call(request, (client, forwarded) =>
        client.redeliver({ params, ...forwarded }),
      );
      return demandDelivery(partner, params.event_id);
    },
  };
}

/** Field by field, so that new fields of the orchestrator do not reach partners. */
function shown(key: Omit<NewKey, "key">): Omit<NewKey, "key"> {
  const { key_id, name, scopes, created_at, created_by } = key;
  const { expires_at, revoked_at, rotated_from } = key;
  return { key_id, name, scopes, created_at, created_by, expires_at, revoked_at, rotated_from };
}
