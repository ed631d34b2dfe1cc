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
