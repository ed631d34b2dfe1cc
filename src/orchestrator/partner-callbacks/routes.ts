import { decodeCursor, encodeCursor } from "../../adapters/http/cursor.ts";
import type { Handlers } from "../../adapters/http/handler.ts";
import { findDelivery, listDeliveries } from "../../adapters/postgres/queries/deliveries.ts";
import { requeueDelivery } from "../../adapters/postgres/repositories/deliveries.ts";
import type { deliveryContracts, DeliveryDetail } from "../../core/api/deliveries.ts";
import { Problem } from "../../core/errors.ts";
import { showJobSecret } from "./sign-callback.ts";
import type { RouteDeps } from "../route-deps.ts";
import { place } from "../assets/request-routes.ts";

export function deliveryRoutes({
  db,
  domain,
}: Pick<RouteDeps, "db" | "domain">): Handlers<typeof deliveryContracts> {
  async function demandDelivery(eventId: string): Promise<DeliveryDetail> {
    const found = await findDelivery(db, eventId);
    if (found !== undefined) return found;
    throw new Problem("DELIVERY_NOT_FOUND", `There is no callback "${eventId}".`);
  }

  return {
    listDeliveries: async ({ query: { limit, cursor, ...filter } }) => {
      const after = decodeCursor(cursor, place);
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

    getDelivery: async ({ params }) => demandDelivery(params.event_id),

    redeliver: async ({ params: { event_id } }) => {
      await requeueDelivery(db, event_id);
      return demandDelivery(event_id);
    },

    jobCallbackSecret: async () => showJobSecret(domain),
  };
}
