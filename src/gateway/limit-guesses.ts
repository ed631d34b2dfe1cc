/**
 * Keys cannot be guessed, but every guess costs a query: an address that sends many unknown tokens
 * gets 429, and its tokens are looked up one after the other. They are still looked up, because many
 * callers may share the address of a proxy: the guesses of one must not lock out the keys of others.
 */
import { hash } from "node:crypto";
import ipaddr from "ipaddr.js";
import { LRUCache } from "lru-cache";
import pLimit from "p-limit";
import type { ClientAddress } from "../adapters/http/access.ts";
import type { Caller } from "../adapters/http/handler.ts";
import type { Network } from "../adapters/net/check-address.ts";
import { isAllowed } from "../adapters/net/check-address.ts";
import type { Clock } from "../adapters/runtime/clock.ts";
import { Problem } from "../core/errors.ts";
import { createBuckets } from "./limit-rate.ts";

/** Hashes of tokens that were valid. */
const mostValid = 10_000;

export interface GuessLimits {
  readonly perMinute: number;
  /** Proxies whose X-Forwarded-For is trusted. */
  readonly trustedProxies: readonly Network[];
}

type Authenticate = (token: string) => Promise<Caller | undefined>;

export function limitGuesses(
  authenticate: Authenticate,
  { perMinute, trustedProxies }: GuessLimits,
  clock: Clock,
): (token: string, client: ClientAddress) => Promise<Caller | undefined> {
  const buckets = createBuckets({ perSecond: perMinute / 60, burst: perMinute }, clock);
  const valid = new LRUCache<string, true>({ max: mostValid });
  const suspects = pLimit(1);

  return async (token, client) => {
    const digest = hash("sha256", token);
    if (valid.get(digest) === true) {
      const caller = await authenticate(token);
      if (caller !== undefined) return caller;
      valid.delete(digest);
    }
    const network = networkOf(clientOf(client, trustedProxies));
    const refusal = takeGuess(network);
    // A query that fails, because the database is down, is not a wrong guess.
    let isWrong = false;
    try {
      const caller = await (refusal === undefined
        ? authenticate(token)
        : suspects(() => authenticate(token)));
      if (caller === undefined) isWrong = true;
      else valid.set(digest, true);
      if (isWrong && refusal !== undefined) throw refusal;
      return caller;
    } finally {
      if (!isWrong && refusal === undefined) buckets.giveBack(network);
    }
  };

  /** Taken before the query and given back after it, so that guesses sent at once all count. */
  function takeGuess(network: string): Problem | undefined {
    try {
      buckets.take(
        network,
        1,
        (seconds) => `Too many unknown tokens came from your address. Try again in ${seconds} s.`,
      );
    } catch (error) {
      if (error instanceof Problem) return error;
      throw error;
    }
    return undefined;
  }
}

/** The address nearest to us in the chain of X-Forwarded-For that is not a trusted proxy. */
export function clientOf(
  { remoteAddress = "", forwardedFor = "" }: ClientAddress,
  trusted: readonly Network[],
): string {
  const hops = forwardedFor.split(",").map((hop) => hop.trim());
  let client = remoteAddress;
  while (isTrusted(client, trusted)) {
    const before = hops.pop();
    if (before === undefined || !ipaddr.isValid(before)) break;
    client = before;
  }
  return client;
}

function isTrusted(address: string, trusted: readonly Network[]): boolean {
  return ipaddr.isValid(address) && isAllowed(ipaddr.process(address), trusted);
}

/** The /64 of an IPv6 address, because one client usually owns all of it; an IPv4 address itself. */
function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return "unknown";
  const parsed = ipaddr.process(address);
  return parsed.kind() === "ipv4"
    ? parsed.toString()
    : (parsed as ipaddr.IPv6).parts.slice(0, 4).join(":");
}
