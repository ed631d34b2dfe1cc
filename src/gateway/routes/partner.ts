import type { Caller } from "../../adapters/http/handler.ts";
import type { PartnerRequest } from "../../adapters/postgres/queries/gateway-requests.ts";
import { Problem } from "../../core/errors.ts";
import type { RouteDeps } from "./deps.ts";

export interface Partner {
  readonly platformId: string;
  /** The actor in the audit trail. It begins with the platform, so that partners cannot pose as others. */
  actor(person?: string): string;
  /** The name of the key, used where the partner gives no name. */
  readonly keyName: string;
}

export function demandPartner(caller: Caller | undefined): Partner {
  if (caller?.platformId === undefined) {
    throw new Problem("FORBIDDEN", "This is for partners: send the API key of a platform.");
  }
  const { name, platformId } = caller;
  return {
    platformId,
    actor: (person) => (person === undefined ? name : `${name}:${person}`),
    keyName: `key ${name.slice(platformId.length + 1)}`,
  };
}

/** A request of another partner is answered like one that does not exist. */
export async function demandRequest(
  { polls }: Pick<RouteDeps, "polls">,
  { platformId }: Partner,
  requestId: string,
): Promise<PartnerRequest> {
  const found = await polls.add({ platformId, requestId });
  if (found !== undefined) return found;
  throw new Problem("REQUEST_NOT_FOUND", `There is no request "${requestId}".`);
}
