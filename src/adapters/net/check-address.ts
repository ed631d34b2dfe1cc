/**
 * Which addresses of strangers may be connected to. A name on the allow-list proves nothing: its DNS may
 * point at this machine, at a cloud's metadata service, or at one address now and another a moment
 * later. So every address that the name has is judged, and the connection goes to a judged one.
 */
import ipaddr from "ipaddr.js";

export type Network = ReturnType<typeof ipaddr.parseCIDR>;

/** `10.1.0.0/16`: private networks that the operator allows. */
export function parseNetworks(networks: readonly string[]): Network[] {
  return networks.map((network) => ipaddr.parseCIDR(network));
}

/** Why nothing may be sent there, or nothing. */
export function addressProblem(address: string, allowed: readonly Network[]): string | undefined {
  if (!ipaddr.isValid(address)) return `${address} is not an address`;
  // An IPv4 address inside of an IPv6 one is judged as what it is.
  const parsed = ipaddr.process(address);
  if (isAllowed(parsed, allowed)) return undefined;
  const range = parsed.range();
  // Everything that is not the open internet: private, loopback, link-local (where metadata
  // services live), unique-local, multicast, and the forms that carry another address inside.
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

/** An address that only the operator's list allows: there plain HTTP will do. */
export function isPrivateAllowed(address: string, allowed: readonly Network[]): boolean {
  return ipaddr.isValid(address) && isAllowed(ipaddr.process(address), allowed);
}
