export type UrlFinding = string | undefined;

/** The part of a URL that is compared; WHATWG parsing has made every form of an address one. */
export interface CallbackAddress {
  readonly protocol: string;
  readonly hostname: string;
  /** Empty where it is the protocol's own. */
  readonly port: string;
  readonly username: string;
  readonly password: string;
}

/** Why no callback may go there, or nothing. Whether its address is private is asked when it is sent. */
export function callbackProblem(url: CallbackAddress, allowed: readonly string[]): UrlFinding {
  if (url.protocol !== "https:" && url.protocol !== "http:") return "must be an https address";
  if (url.username !== "" || url.password !== "") return "must not hold a name or password";
  if (allowed.some((entry) => matches(entry, url))) return undefined;
  const host = url.port === "" ? url.hostname : `${url.hostname}:${url.port}`;
  return `the host ${host} is not on the platform's list of callback hosts`;
}

function matches(entry: string, { hostname, port }: CallbackAddress): boolean {
  const [, name = "", wanted = ""] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? [];
  if (wanted !== port) return false;
  if (name.startsWith("*.")) return hostname.endsWith(name.slice(1)) && hostname !== name.slice(2);
  return hostname === name;
}

/** When a callback is tried again, and how it is signed. */

export const mostAttempts = 10;

/** Waits of 10 s, 20 s, … up to an hour: ten attempts reach over about three hours. */
export function nextDelaySeconds(attempt: number): number | undefined {
  if (attempt >= mostAttempts) return undefined;
  return Math.min(3600, 10 * 2 ** (attempt - 1));
}

/** After so many failures in a row a host is left alone. */
export const failuresToOpen = 5;

/** For half a minute at first, doubling up to a quarter of an hour. */
export function openSeconds(failures: number): number | undefined {
  if (failures < failuresToOpen) return undefined;
  return Math.min(900, 30 * 2 ** (failures - failuresToOpen));
}

/** What is signed: without the time in it an old message could be sent again for ever. */
export function signedText(timestamp: number, body: string): string {
  return `${timestamp}.${body}`;
}

/** One `v1` for each secret that is good now: while a platform changes its secret, two. */
export function signatureHeader(timestamp: number, signatures: readonly string[]): string {
  return [`t=${timestamp}`, ...signatures.map((each) => `v1=${each}`)].join(",");
}
