import { z } from "zod";
import { decodeCursor, encodeCursor } from "../../adapters/http/cursor.ts";
import type { Handlers } from "../../adapters/http/handler.ts";
import type { Database } from "../../adapters/postgres/database.ts";
import { findDelivery, listDeliveries } from "../../adapters/postgres/queries/deliveries.ts";
import { requeueDelivery } from "../../adapters/postgres/repositories/deliveries.ts";
import type { deliveryContracts, DeliveryDetail } from "../../core/api/deliveries.ts";
import { Problem } from "../../core/errors.ts";
import type { CallbackSettings } from "./check-callback-url.ts";
import { showJobSecret } from "./show-secret.ts";

export interface PartnerCallbackRouteDeps {
  readonly db: Database;
  readonly callbacks: CallbackSettings;
}

const createdAtAndId = z.tuple([z.string().regex(/^\d{4}-[\d:. +-]+$/), z.string().max(80)]);

/** Callbacks to partners: which were sent, which failed, and sending one again. */
export function partnerCallbackRoutes({
  db,
  callbacks,
}: PartnerCallbackRouteDeps): Handlers<typeof deliveryContracts> {
  async function requireDelivery(eventId: string): Promise<DeliveryDetail> {
    const found = await findDelivery(db, eventId);
    if (found !== undefined) return found;
    throw new Problem("DELIVERY_NOT_FOUND", `There is no callback "${eventId}".`);
  }

  return {
    listDeliveries: async ({ query: { limit, cursor, ...filter } }) => {
      const after = decodeCursor(cursor, createdAtAndId);
      const { deliveries, next } = await listDeliveries(
        db,
        filter,
        limit,
        after && { created_at: after[0], event_id: after[1] },
      );
      return {
        items: deliveries,
        next_cursor: next && encodeCursor([next.created_at, next.event_id]),
      };
    },

    getDelivery: async ({ params }) => requireDelivery(params.event_id),

    redeliver: async ({ params: { event_id } }) => {
      await requeueDelivery(db, event_id);
      return requireDelivery(event_id);
    },

    jobCallbackSecret: async () => showJobSecret(callbacks),
  };
}
