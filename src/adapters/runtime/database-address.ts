/** Completes the addresses of databases that the environment gives, by their parts or as a whole. */

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * In an address: the client id of the managed identity that connects, or nothing for the machine's own.
 * Every part of a program gets the address, threads too, and so connects by the same identity.
 */
export const identityParameter = "managed_identity";

const thisMachine = /^(?:localhost|127(?:\.\d+){3}|\[::1\])?$/;

/** The address of a database whose parts are given one by one. */
export function addressOfParts(env: Environment): string | undefined {
  const { POSTGRES_HOST: host, POSTGRES_DB: name, POSTGRES_USER: user } = env;
  if (host === undefined || name === undefined || user === undefined) return undefined;
  const url = new URL(`postgres://${host}`);
  url.port = env["POSTGRES_PORT"] ?? "";
  url.username = encodeURIComponent(user);
  url.password = encodeURIComponent(env["POSTGRES_PASSWORD"] ?? "");
  url.pathname = `/${encodeURIComponent(name)}`;
  const mode = env["POSTGRES_SSLMODE"];
  if (mode !== undefined) url.searchParams.set("sslmode", mode);
  return url.href;
}

/**
 * Adds to an address what it leaves open: TLS with a verified server for every host but this one, and
 * with USE_MANAGED_IDENTITY the identity instead of a password.
 */
export function completeAddress(address: string, env: Environment): string {
  if (!URL.canParse(address)) return address;
  const url = new URL(address);
  const { searchParams } = url;
  const isLocal = thisMachine.test(url.hostname) || searchParams.has("host");
  if (!isLocal && !searchParams.has("sslmode") && !searchParams.has("ssl")) {
    searchParams.set("sslmode", env["PGSSLMODE"] ?? "verify-full");
  }
  const certificates = env["PGSSLROOTCERT"];
  const isInTls = (searchParams.get("sslmode") ?? "disable") !== "disable";
  if (isInTls && certificates !== undefined && !searchParams.has("sslrootcert")) {
    searchParams.set("sslrootcert", certificates);
  }
  if (/^(?:true|1)$/i.test(env["USE_MANAGED_IDENTITY"] ?? "") && url.password === "") {
    searchParams.set(identityParameter, env["DB_ADMIN_MANAGED_IDENTITY_CLIENT_ID"] ?? "");
  }
  return url.href === new URL(address).href ? address : url.href;
}
