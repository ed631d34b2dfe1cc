/**
 * Which addresses may be connected to where a user gives the URL. A name on the allow-list is not
 * enough: its DNS may point at this machine, at a cloud's metadata service, or at one address now
 * and another a moment later. So every address of the name is checked, and the connection goes to a
 * checked one.
 */
import type { LookupAddress } from "node:dns";
import { lookup as systemLookup } from "node:dns/promises";
import type { LookupFunction } from "node:net";
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

export type Network = ReturnType<typeof ipaddr.parseCIDR>;

/** `10.1.0.0/16`: private networks that the operator allows. */
export function parseNetworks(networks: readonly string[]): Network[] {
  return networks.map((network) => ipaddr.parseCIDR(network));
}

/** The reason to refuse the address. Undefined: it is allowed. */
export function addressProblem(address: string, allowed: readonly Network[]): string | undefined {
  if (!ipaddr.isValid(address)) return `${address} is not an address`;
  // An IPv4 address inside of an IPv6 one is checked as IPv4.
  const parsed = ipaddr.process(address);
  if (isAllowed(parsed, allowed)) return undefined;
  const range = parsed.range();
  // Refused are private, loopback, link-local (metadata services), unique-local and multicast
  // addresses, and the forms that carry another address inside.
  return range === "unicast" ? undefined : `${address} is ${range} and not on the open internet`;
}

export function isAllowed(
  address: ipaddr.IPv4 | ipaddr.IPv6,
  allowed: readonly Network[],
): boolean {
  return allowed.some(
    ([network, bits]) => network.kind() === address.kind() && address.match(network, bits),
  );
}

/** True for an address on the operator's list, where plain HTTP is allowed. */
export function isPrivateAllowed(address: string, allowed: readonly Network[]): boolean {
  return ipaddr.isValid(address) && isAllowed(ipaddr.process(address), allowed);
}

/** Resolves a name; tests pass one of their own. */
export type Lookup = (hostname: string) => Promise<readonly LookupAddress[]>;

export const resolveAll: Lookup = (hostname) =>
  systemLookup(hostname, { all: true, verbatim: true });

/**
 * Resolves the host of a URL. Answers with the reason when one address is refused, also if others
 * are allowed: a mix of both is an attack.
 */
export async function findAddresses(
  { hostname }: Pick<URL, "hostname">,
  privateNetworks: readonly Network[],
  lookup: Lookup,
): Promise<readonly [LookupAddress, ...LookupAddress[]] | string> {
  const name = hostname.replace(/^\[|\]$/g, "");
  const family = isIP(name);
  const [first, ...others] = family === 0 ? await lookup(name) : [{ address: name, family }];
  if (first === undefined) return `${name} has no address`;
  for (const { address } of [first, ...others]) {
    const problem = addressProblem(address, privateNetworks);
    if (problem !== undefined) return problem;
  }
  return [first, ...others];
}

/** A `lookup` for a request that answers with the checked address, without asking DNS again. */
export function pinnedTo(address: LookupAddress): LookupFunction {
  return (_hostname, options, done) => {
    if (options.all === true) done(null, [address]);
    else done(null, address.address, address.family);
  };
}
