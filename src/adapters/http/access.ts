/**
 * Who is calling, and may they?
 *
 * A client sends a bearer token on purpose. A cookie, the headers of a proxy and the open access on
 * loopback come without its intent: any page can make the user's browser send requests here. So
 * those count only if the request names this server as its Host (a foreign name may resolve to
 * 127.0.0.1) and, for a request that changes something or opens a socket, only if its Origin is this
 * server too.
 */
import { isIPv4 } from "node:net";
import type { Access } from "../../core/api/contract.ts";
import { access as everything, includesAccess } from "../../core/api/contract.ts";
import { Problem } from "../../core/errors.ts";
import type { Caller } from "./handler.ts";
import type { AddressSigner } from "./signed-address.ts";
import { readSessionCookie } from "./session-cookie.ts";
import type { TrustedProxy } from "./trusted-proxy.ts";
import { comesFrom, userOf } from "./trusted-proxy.ts";

export interface AccessPolicy {
  /** The caller who has a bearer token. */
  authenticate(
    token: string,
    client?: ClientAddress,
  ): Caller | undefined | Promise<Caller | undefined>;
  /** The caller whose browser has a session; absent where there are no sessions. */
  findSession?(secret: string): Promise<Caller | undefined>;
  /** True: callers can prove who they are. Otherwise the server listens on loopback only. */
  readonly hasTokens: boolean;
  /** Absent: there are no signed addresses. */
  readonly signer?: AddressSigner | undefined;
  /** Requests from this machine need no token. */
  readonly openOnLoopback: boolean;
  /** Absent: headers that name a signed-in user are ignored. */
  readonly proxy?: TrustedProxy | undefined;
  /** Public routes do not identify the caller, so that probes answer while the database is down. */
  readonly anonymousOnPublic?: boolean;
}

export interface ClientAddress {
  readonly remoteAddress: string | undefined;
  /** X-Forwarded-For as it came: any client can send it. */
  readonly forwardedFor: string | undefined;
}

/** The parts of a request that access depends on. */
export interface AccessRequest extends ClientAddress {
  readonly authorization: string | undefined;
  readonly host: string | undefined;
  readonly origin: string | undefined;
  /** It came through a proxy, so its address is not the client's. */
  readonly forwarded: boolean;
  /** A POST, or the opening of a socket. */
  readonly changes: boolean;
  /** Any other header, by its lower-case name. */
  readonly header: (name: string) => string | undefined;
}

/** Answers with a promise only where it looks something up: most requests do not wait for one. */
export function identify(
  policy: AccessPolicy,
  request: AccessRequest,
): Caller | undefined | Promise<Caller | undefined> {
  const token = readToken(request.authorization);
  if (token !== undefined) {
    const caller = policy.authenticate(token, request);
    return caller instanceof Promise ? caller.then(knownCaller) : knownCaller(caller);
  }
  const session = readSessionCookie(request.header);
  if (session !== undefined && policy.findSession !== undefined) {
    return policy.findSession(session).then((known) => {
      if (known === undefined) return identifyByAddress(policy, request);
      refuseForeignOrigin(request);
      return known;
    });
  }
  return identifyByAddress(policy, request);
}

function knownCaller(caller: Caller | undefined): Caller {
  if (caller === undefined) throw new Problem("UNAUTHENTICATED", "The token is not known here.");
  return caller;
}

/** The user of a proxy, or of this machine. */
function identifyByAddress(policy: AccessPolicy, request: AccessRequest): Caller | undefined {
  if (policy.proxy !== undefined && comesFrom(policy.proxy, request.remoteAddress)) {
    const user = userOf(policy.proxy, request.header);
    // The proxy may call this server by another name than the browser does.
    const host = request.header("x-forwarded-host") ?? request.host;
    if (user !== undefined) refuseForeignOrigin({ ...request, host });
    // No open access behind it: a proxy on this machine is not the user of this machine.
    return user;
  }
  if (!policy.openOnLoopback || request.forwarded || !isLoopback(request.remoteAddress)) {
    return undefined;
  }
  if (!isLoopback(hostName(request.host))) {
    throw new Problem(
      "FORBIDDEN",
      "Without a token this server is open to this machine only: call it as localhost.",
    );
  }
  refuseForeignOrigin(request);
  return userOfThisMachine;
}

const userOfThisMachine: Caller = { name: "loopback", access: everything.options };

/**
 * The token of a request: a bearer, or the password of Basic authentication with any name, which
 * desktop programs such as QGIS can send.
 */
function readToken(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined;
  const bearer = /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
  if (bearer !== undefined) return bearer;
  const basic = /^Basic +([A-Za-z\d+/=]+) *$/i.exec(authorization)?.[1];
  if (basic === undefined) return undefined;
  const text = Buffer.from(basic, "base64").toString("utf8");
  const password = text.slice(text.indexOf(":") + 1);
  return text.includes(":") && /^\S+$/.test(password) ? password : undefined;
}

export function demandAccess(needed: Access, caller: Caller | undefined): void {
  if (needed === "public") return;
  if (caller === undefined) {
    throw new Problem("UNAUTHENTICATED", "Send a token: `Authorization: Bearer …`.");
  }
  if (!includesAccess(caller.access, needed)) {
    throw new Problem("FORBIDDEN", `${caller.name} does not have "${needed}" access.`);
  }
}

/** Knows names and addresses of this machine, also an IPv4 address inside of an IPv6 one. */
export function isLoopback(address: string | undefined): boolean {
  if (address === undefined) return false;
  const plain = address.replace(/^\[|\]$/g, "").replace(/^::ffff:/i, "");
  if (isIPv4(plain)) return plain.startsWith("127.");
  return plain === "::1" || plain.toLowerCase() === "localhost";
}

/** Refuses a change that a page of another site sent with the user's browser. */
export function refuseForeignOrigin({
  changes,
  origin,
  host,
}: Pick<AccessRequest, "changes" | "origin" | "host">): void {
  if (!changes || origin === undefined) return;
  const from = URL.canParse(origin) ? new URL(origin).host : undefined;
  if (from !== undefined && from === host?.toLowerCase()) return;
  throw new Problem("FORBIDDEN", `A page of ${origin} may not change anything here.`);
}

/** The usual names of this machine, which need not be parsed as a part of an address. */
const usualHost = /^(localhost|127\.0\.0\.1)(?::[0-5]?\d{1,4})?$/;

function hostName(host: string | undefined): string | undefined {
  const usual = host === undefined ? undefined : usualHost.exec(host)?.[1];
  if (usual !== undefined) return usual;
  const url = `http://${host ?? ""}`;
  return URL.canParse(url) ? new URL(url).hostname : undefined;
}
