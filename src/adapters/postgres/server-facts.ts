import { connectOptions } from "./connect-options.ts";
import pg from "pg";
import { hasErrorCode } from "../runtime/error-code.ts";

export interface ServerFacts {
  /** Such as `18.4`. */
  readonly version: string;
  readonly hasPostgis: boolean;
  /** The setting `rmhdag.source` of an embedded server; null for every other server. */
  readonly source: string | null;
}

const duplicateDatabase = "42P04";
const uniqueViolation = "23505";

/** Creates the database if it is missing, and reads the facts of the server. */
export async function prepareServer(serverUrl: string, database: string): Promise<ServerFacts> {
  const url = new URL(serverUrl);
  url.pathname = "/postgres";
  const client = new pg.Client({ ...connectOptions(url.href), connectionTimeoutMillis: 5000 });
  client.on("error", () => undefined);
  try {
    await client.connect();
    await ensureDatabase(client, database);
    const { rows } = await client.query<ServerFacts>(`
      SELECT split_part(current_setting('server_version'), ' ', 1) AS version,
             current_setting('rmhdag.source', true) AS source,
             EXISTS (SELECT FROM pg_available_extensions WHERE name = 'postgis') AS "hasPostgis"`);
    const facts = rows[0];
    if (facts === undefined) throw new Error("The server answered without a row.");
    return facts;
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function ensureDatabase(client: pg.Client, database: string): Promise<void> {
  const { rowCount } = await client.query("SELECT FROM pg_database WHERE datname = $1", [database]);
  if (rowCount !== 0) return;
  try {
    await client.query(`CREATE DATABASE ${pg.escapeIdentifier(database)}`);
  } catch (error) {
    // Another owner made it between the two statements.
    if (!hasErrorCode(error, duplicateDatabase, uniqueViolation)) throw error;
  }
}
