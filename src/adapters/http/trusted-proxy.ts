/**
 * Sign-in by a proxy, which checks the password and sends the user and the user's roles in headers.
 * Any client can send such headers, so they count only on connections from the addresses of the
 * proxy and are ignored on all others.
 */
import ipaddr from "ipaddr.js";
import type { Access } from "../../core/api/contract.ts";
import type { Network } from "../net/check-address.ts";
import { isAllowed } from "../net/check-address.ts";
import type { Caller } from "./handler.ts";

export interface TrustedProxy {
  readonly networks: readonly Network[];
  /** Lower-case names of headers. */
  readonly userHeader: string;
  readonly rolesHeader: string;
}

/**
 * Access by role. The roles begin with our name, because they come from a directory with groups of
 * other systems. No role gives the access of the platform's own processes.
 */
const rights: ReadonlyMap<string, readonly Access[]> = new Map([
  ["rmhdag-read", ["read"]],
  ["rmhdag-operate", ["read", "operate"]],
  ["rmhdag-curate", ["read", "curate"]],
]);

export function comesFrom(proxy: TrustedProxy, remoteAddress: string | undefined): boolean {
  if (remoteAddress === undefined || !ipaddr.isValid(remoteAddress)) return false;
  return isAllowed(ipaddr.process(remoteAddress), proxy.networks);
}

/** Undefined: the proxy sends no valid user name. */
export function userOf(
  proxy: TrustedProxy,
  header: (name: string) => string | undefined,
): Caller | undefined {
  const name = header(proxy.userHeader) ?? "";
  // A comma means two headers, of which one may be the client's that the proxy did not remove.
  if (!/^[\x21-\x2b\x2d-\x7e]{1,128}$/.test(name)) return undefined;
  const roles = (header(proxy.rolesHeader) ?? "").split(/[\s,;]+/);
  return { name, access: [...new Set(roles.flatMap((role) => rights.get(role) ?? []))] };
}
