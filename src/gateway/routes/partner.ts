import type { Caller } from "../../adapters/http/handler.ts";
import type { PartnerRequest } from "../../adapters/postgres/queries/gateway-requests.ts";
import { Problem } from "../../core/errors.ts";
import type { RouteDeps } from "./deps.ts";

export interface Partner {
  readonly platformId: string;
  /** Who did it, as the audit trail shows it: nobody can pass for somebody of another platform. */
  actor(person?: string): string;
  /** Of the key, for what wants a name and got none. */
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

/** What is another partner's is answered as what does not exist. */
export async function demandRequest(
  { polls }: Pick<RouteDeps, "polls">,
  { platformId }: Partner,
  requestId: string,
): Promise<PartnerRequest> {
  const found = await polls.add({ platformId, requestId });
  if (found !== undefined) return found;
  throw new Problem("REQUEST_NOT_FOUND", `There is no request "${requestId}".`);
}
