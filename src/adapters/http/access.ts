/**
 * Who is calling, and may they?
 *
 * A bearer token is sent on purpose. A cookie, the word of a proxy, and an open door on loopback are
 * not: any page in the user's browser can make it send requests here. So those are believed only if
 * the request names this server as its Host (a name that a stranger's DNS points at 127.0.0.1 is not
 * ours), and, where it changes something or opens a socket, only if its Origin is this server too.
 */
import { isIPv4 } from "node:net";
import type { Access } from "../../core/api/contract.ts";
import { access as everything } from "../../core/api/contract.ts";
import { Problem } from "../../core/errors.ts";
import type { Caller } from "./handler.ts";
import type { TrustedProxy } from "./trusted-proxy.ts";
import { comesFrom, userOf } from "./trusted-proxy.ts";

export interface AccessPolicy {
  authenticate(token: string, came?: Came): Caller | undefined | Promise<Caller | undefined>;
  /** Can anybody prove who they are? Without that the server stays on loopback. */
  readonly hasTokens: boolean;
  /** Requests from this machine need no token. */
  readonly openOnLoopback: boolean;
  /** Absent: nobody is believed who says that somebody else signed in. */
  readonly proxy?: TrustedProxy | undefined;
  /** Public routes do not ask who calls: probes answer while the place where callers are known is away. */
  readonly anonymousOnPublic?: boolean;
}

/** From where a request came, as far as the network tells. */
export interface Came {
  readonly remoteAddress: string | undefined;
  /** The header of that name: who says it is another question. */
  readonly forwardedFor: string | undefined;
}

/** What the decision depends on. */
export interface Approach extends Came {
  readonly authorization: string | undefined;
  readonly cookie: string | undefined;
  readonly host: string | undefined;
  readonly origin: string | undefined;
  /** It came through a proxy, so its address says nothing. */
  readonly forwarded: boolean;
  /** A POST, or the opening of a socket. */
  readonly changes: boolean;
  /** Any other header, by its lower-case name. */
  readonly header: (name: string) => string | undefined;
}

export const sessionCookie = "rmhdag_session";

export async function identify(
  policy: AccessPolicy,
  approach: Approach,
): Promise<Caller | undefined> {
  const bearer = /^Bearer +(\S+) *$/i.exec(approach.authorization ?? "")?.[1];
  if (bearer !== undefined) {
    const caller = await policy.authenticate(bearer, approach);
    if (caller === undefined) throw new Problem("UNAUTHENTICATED", "The token is not known here.");
    return caller;
  }
  const session = readCookie(approach.cookie, sessionCookie);
  const known = session === undefined ? undefined : await policy.authenticate(session, approach);
  if (known !== undefined) {
    refuseForeignOrigin(approach);
    return known;
  }
  if (policy.proxy !== undefined && comesFrom(policy.proxy, approach.remoteAddress)) {
    const user = userOf(policy.proxy, approach.header);
    // The proxy may know this server by another name than the browser does.
    const host = approach.header("x-forwarded-host") ?? approach.host;
    if (user !== undefined) refuseForeignOrigin({ ...approach, host });
    // Never the open door behind it: a proxy on this machine is not this machine's user.
    return user;
  }
  if (!policy.openOnLoopback || approach.forwarded || !isLoopback(approach.remoteAddress)) {
    return undefined;
  }
  if (!isLoopback(hostName(approach.host))) {
    throw new Problem(
      "FORBIDDEN",
      "Without a token this server is open to this machine only: call it as localhost.",
    );
  }
  refuseForeignOrigin(approach);
  return { name: "loopback", access: everything.options };
}

export function demandAccess(needed: Access, caller: Caller | undefined): void {
  if (needed === "public") return;
  if (caller === undefined) {
    throw new Problem("UNAUTHENTICATED", "Send a token: `Authorization: Bearer …`.");
  }
  if (!caller.access.includes(needed)) {
    throw new Problem("FORBIDDEN", `${caller.name} does not have "${needed}" access.`);
  }
}

/** Names and addresses of this machine; an address may come as IPv6 with an IPv4 inside. */
export function isLoopback(address: string | undefined): boolean {
  if (address === undefined) return false;
  const plain = address.replace(/^\[|\]$/g, "").replace(/^::ffff:/i, "");
  if (isIPv4(plain)) return plain.startsWith("127.");
  return plain === "::1" || plain.toLowerCase() === "localhost";
}

export function readCookie(header: string | undefined, name: string): string | undefined {
  for (const pair of header?.split(";") ?? []) {
    const at = pair.indexOf("=");
    if (pair.slice(0, at).trim() !== name) continue;
    try {
      return decodeURIComponent(pair.slice(at + 1).trim());
    } catch {
      return undefined;
    }
  }
  return undefined;
}

function refuseForeignOrigin({
  changes,
  origin,
  host,
}: Pick<Approach, "changes" | "origin" | "host">): void {
  if (!changes || origin === undefined) return;
  const from = URL.canParse(origin) ? new URL(origin).host : undefined;
  if (from !== undefined && from === host?.toLowerCase()) return;
  throw new Problem("FORBIDDEN", `A page of ${origin} may not change anything here.`);
}

function hostName(host: string | undefined): string | undefined {
  const url = `http://${host ?? ""}`;
  return URL.canParse(url) ? new URL(url).hostname : undefined;
}
