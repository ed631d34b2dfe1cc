import type { LookupAddress } from "node:dns";
import { lookup as systemLookup } from "node:dns/promises";
import type { LookupFunction } from "node:net";
import { isIP } from "node:net";
import type { Network } from "./check-address.ts";
import { addressProblem } from "./check-address.ts";

/** How a name becomes addresses; a test brings its own. */
export type Lookup = (hostname: string) => Promise<readonly LookupAddress[]>;

export const resolveAll: Lookup = (hostname) =>
  systemLookup(hostname, { all: true, verbatim: true });

/** All of them when each may be connected to, or why not: a mix of good and bad is an attack. */
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

/** For a request's `lookup`: asked for a name again, DNS might answer otherwise, so it is not. */
export function pinnedTo(address: LookupAddress): LookupFunction {
  return (_hostname, options, done) => {
    if (options.all === true) done(null, [address]);
    else done(null, address.address, address.family);
  };
}
