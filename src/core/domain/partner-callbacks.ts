import { backoffDelay } from "../backoff.ts";

export type UrlFinding = string | undefined;

/**
 * The parts of a URL that are compared. The URL was parsed by the WHATWG rules, so an address has
 * only one form.
 */
export interface CallbackAddress {
  readonly protocol: string;
  readonly hostname: string;
  /** Empty for the protocol's default port. */
  readonly port: string;
  readonly username: string;
  readonly password: string;
}

/**
 * Returns why callbacks may not go to this URL, or undefined. Whether its address is private is
 * checked when a callback is sent.
 */
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

export const mostAttempts = 10;

/** Waits of 10 s, 20 s, … up to an hour: ten attempts take about three hours. */
export function nextDelaySeconds(attempt: number): number | undefined {
  if (attempt >= mostAttempts) return undefined;
  return Math.min(3600, 10 * 2 ** (attempt - 1));
}

/** After this many failures in a row the circuit of a host opens: no callback is sent to it. */
export const failuresToOpen = 5;

/** How long the circuit stays open: half a minute at first, doubling up to a quarter of an hour. */
export function openSeconds(failures: number): number | undefined {
  if (failures < failuresToOpen) return undefined;
  return backoffDelay(failures - failuresToOpen, 30, 900);
}
