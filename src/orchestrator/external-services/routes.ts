import type { Handlers } from "../../adapters/http/handler.ts";
import type { Database } from "../../adapters/postgres/database.ts";
import {
  deleteService,
  findService,
  listServices,
  writeService,
} from "../../adapters/postgres/repositories/external-services.ts";
import type { externalServiceContracts } from "../../core/api/external-services.ts";
import { Problem } from "../../core/errors.ts";
import type { ExternalService } from "../../core/model/external-service.ts";
import type { ServiceCheckDeps } from "./check-services.ts";
import { checkService } from "./check-services.ts";

export interface ExternalServiceRouteDeps {
  readonly db: Database;
  readonly serviceChecks: ServiceCheckDeps;
}

export function externalServiceRoutes({
  db,
  serviceChecks,
}: ExternalServiceRouteDeps): Handlers<typeof externalServiceContracts> {
  async function checked(serviceId: string): Promise<ExternalService> {
    const service = await findService(db, serviceId);
    if (service === undefined) throw missing(serviceId);
    if (service.is_active) await checkService(serviceChecks, service);
    return (await findService(db, serviceId)) ?? service;
  }

  return {
    listExternalServices: async ({ query: { kind, layers } }) => ({
      items: await listServices(db, { kind, layers: layers === "true" }),
      next_cursor: null,
    }),
    putExternalService: async ({ params: { service_id }, body, caller }) => {
      await writeService(db, service_id, body, caller?.name ?? "unknown");
      return checked(service_id);
    },
    checkExternalService: async ({ params }) => checked(params.service_id),
    deleteExternalService: async ({ params: { service_id } }) => {
      if (!(await deleteService(db, service_id))) throw missing(service_id);
      return { deleted: true };
    },
  };
}

function missing(serviceId: string): Problem {
  return new Problem("NOT_FOUND", `There is no external service "${serviceId}".`);
}
