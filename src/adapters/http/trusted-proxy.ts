/**
 * Sign-in by a proxy that has asked for the password already: it names the user and the user's roles
 * in headers. Anybody can send such headers, so they count only on connections that come from the
 * proxy's own addresses; from everywhere else they are as if they were not there.
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
 * The roles have our name in them: they come out of a directory that others fill too, where a group
 * called "operate" may mean anything. What the platform's own processes may, no role gives.
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

/** Undefined: the proxy says nobody's name, or something that is no name. */
export function userOf(
  proxy: TrustedProxy,
  header: (name: string) => string | undefined,
): Caller | undefined {
  const name = header(proxy.userHeader) ?? "";
  // A comma is two headers: one of them may be the user's own, which the proxy failed to remove.
  if (!/^[\x21-\x2b\x2d-\x7e]{1,128}$/.test(name)) return undefined;
  const roles = (header(proxy.rolesHeader) ?? "").split(/[\s,;]+/);
  return { name, access: [...new Set(roles.flatMap((role) => rights.get(role) ?? []))] };
}
