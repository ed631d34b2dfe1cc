/**
 * How a connection to an address is made: with its password, or as a managed identity, whose token is the
 * password and is asked for anew for each connection.
 */
import type pg from "pg";
import { parseIntoClientConfig } from "pg-connection-string";
import { identityParameter } from "../runtime/database-address.ts";

/** The audience of tokens for PostgreSQL servers of Azure. */
const scope = "https://ossrdbms-aad.database.windows.net/.default";

export function connectOptions(address: string): pg.ClientConfig {
  const url = new URL(address);
  const identity = url.searchParams.get(identityParameter);
  if (identity === null) return { connectionString: address };
  url.searchParams.delete(identityParameter);
  return { ...parseIntoClientConfig(url.href), password: () => requestToken(identity) };
}

interface Credential {
  getToken(scope: string): Promise<{ readonly token: string }>;
}
const credentials = new Map<string, Promise<Credential>>();

/** Asks for a token of the identity; the library keeps one until shortly before it ends. */
async function requestToken(clientId: string): Promise<string> {
  let credential = credentials.get(clientId);
  if (credential === undefined) {
    credential = openCredential(clientId);
    credentials.set(clientId, credential);
  }
  const { token } = await (await credential).getToken(scope);
  return token;
}

async function openCredential(clientId: string): Promise<Credential> {
  const { DefaultAzureCredential } = await import("@azure/identity");
  return new DefaultAzureCredential(clientId === "" ? {} : { managedIdentityClientId: clientId });
}
