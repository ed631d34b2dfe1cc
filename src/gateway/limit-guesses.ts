/**
 * Keys cannot be guessed, but trying costs the database a question each: an address whose tokens
 * keep being unknown has to wait. A token that was good before passes, so that one wrong program
 * behind an address does not lock out the right ones beside it.
 */
import { hash } from "node:crypto";
import ipaddr from "ipaddr.js";
import type { Came } from "../adapters/http/access.ts";
import type { Caller } from "../adapters/http/handler.ts";
import type { Network } from "../adapters/net/check-address.ts";
import { isAllowed } from "../adapters/net/check-address.ts";
import type { Clock } from "../adapters/runtime/clock.ts";
import { Problem } from "../core/errors.ts";
import type { Bucket } from "../core/gateway/token-bucket.ts";
import { takeTokens } from "../core/gateway/token-bucket.ts";

/** What is remembered of addresses and of tokens: a few megabytes at most. */
const mostRemembered = 10_000;

export interface GuessLimits {
  readonly perMinute: number;
  /** Whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly Network[];
}

type Authenticate = (token: string) => Promise<Caller | undefined>;

export function limitGuesses(
  authenticate: Authenticate,
  { perMinute, trustedProxies }: GuessLimits,
  clock: Clock,
): (token: string, came: Came) => Promise<Caller | undefined> {
  const rate = { perSecond: perMinute / 60, burst: perMinute };
  const buckets = new Map<string, Bucket>();
  const good = new Map<string, true>();

  function remember<Value>(map: Map<string, Value>, key: string, value: Value): void {
    // Put at the end of the map's order, so that its first entry is the one longest unused.
    map.delete(key);
    map.set(key, value);
    if (map.size > mostRemembered) map.delete(map.keys().next().value ?? "");
  }

  /** Before the token is looked for: a thousand guesses at once are a thousand guesses. */
  function take(from: string): void {
    const taken = takeTokens(buckets.get(from), rate, clock.now().getTime(), 1);
    remember(buckets, from, taken.bucket);
    if (taken.allowed) return;
    const { retryAfterSeconds } = taken;
    throw new Problem(
      "TOO_MANY_REQUESTS",
      `Too many unknown tokens came from your address. Try again in ${retryAfterSeconds} s.`,
      [],
      { retryAfterSeconds },
    );
  }

  function giveBack(from: string): void {
    const bucket = buckets.get(from);
    if (bucket !== undefined) buckets.set(from, { ...bucket, tokens: bucket.tokens + 1 });
  }

  return async (token, came) => {
    const digest = hash("sha256", token);
    if (good.has(digest)) {
      const caller = await authenticate(token);
      if (caller !== undefined) return caller;
      good.delete(digest);
    }
    const from = networkOf(clientOf(came, trustedProxies));
    take(from);
    // What cannot be looked for now, because the database is away, is no wrong guess either.
    let isWrong = false;
    try {
      const caller = await authenticate(token);
      if (caller === undefined) isWrong = true;
      else remember(good, digest, true);
      return caller;
    } finally {
      if (!isWrong) giveBack(from);
    }
  };
}

/** The last of those who passed it on that is not one of our own proxies. */
export function clientOf(
  { remoteAddress = "", forwardedFor = "" }: Came,
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

/** Whoever has one IPv6 address has the 2^64 beside it. */
function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return "unknown";
  const parsed = ipaddr.process(address);
  return parsed.kind() === "ipv4"
    ? parsed.toString()
    : (parsed as ipaddr.IPv6).parts.slice(0, 4).join(":");
}
