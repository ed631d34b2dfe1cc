/** Checks the health of registered services by a GET, with the guards of callbacks. */
import type { Lookup, Network } from "../../adapters/net/check-address.ts";
import { probeAddress } from "../../adapters/net/send-partner-callback.ts";
import type { Database } from "../../adapters/postgres/database.ts";
import {
  recordCheck,
  takeDueServices,
} from "../../adapters/postgres/repositories/external-services.ts";
import type { Clock } from "../../adapters/runtime/clock.ts";
import type { ExternalService } from "../../core/model/external-service.ts";
import { healthAddress } from "../../core/model/external-service.ts";

export interface ServiceCheckDeps {
  readonly db: Database;
  readonly clock: Clock;
  /** Networks that are private and may be asked all the same. */
  readonly privateNetworks: readonly Network[];
  readonly lookup?: Lookup;
}

const everySeconds = 60;
const atOnce = 8;

export async function checkServices(deps: ServiceCheckDeps): Promise<number> {
  const due = await takeDueServices(deps.db, { everySeconds, limit: atOnce });
  await Promise.all(due.map((service) => checkService(deps, service)));
  return due.length;
}

export async function checkService(
  { db, clock, privateNetworks, lookup }: ServiceCheckDeps,
  service: ExternalService,
): Promise<void> {
  const started = clock.now().getTime();
  const { error } = await probeAddress(new URL(healthAddress(service)), {
    privateNetworks,
    timeoutMs: 5000,
    ...(lookup === undefined ? {} : { lookup }),
  });
  const latencyMs = Math.max(0, clock.now().getTime() - started);
  await recordCheck(db, service.service_id, { error, latencyMs });
}
