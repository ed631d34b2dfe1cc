import { createHash } from "node:crypto";
import path from "node:path";
import { z } from "zod";
import { startEmbeddedPostgres } from "../../adapters/embedded-postgres/start-embedded-postgres.ts";
import { grantGatewayUser } from "../../adapters/postgres/gateway-user.ts";
import { migrate } from "../../adapters/postgres/migrate.ts";
import type { MigrateResult } from "../../adapters/postgres/migrate.ts";
import type { CliConfig } from "../common/config.ts";
import { UsageError } from "../common/failure.ts";

export interface OpenDatabase {
  readonly url: string;
  /** For people: which PostgreSQL it is and where, without the password. */
  readonly description: string;
  readonly migrated: MigrateResult;
  readonly close: () => Promise<void>;
}

/** Opens and migrates the database of DATABASE_URL, or the embedded one in the data folder. */
export async function openDatabase(
  { databaseUrl, postgres }: Pick<CliConfig, "databaseUrl" | "postgres">,
  dataFolder: string,
  log: (message: string) => void,
): Promise<OpenDatabase> {
  if (databaseUrl !== undefined) {
    const migrated = await migrate(databaseUrl, { log });
    const close = async () => undefined;
    return { url: databaseUrl, description: describeUrl(databaseUrl), migrated, close };
  }
  const prefer = z.enum(["auto", "npm", "system"]).safeParse(postgres);
  if (!prefer.success) {
    throw new UsageError(`RMHDAG_POSTGRES is "${postgres}": it must be auto, npm or system.`);
  }
  const server = await startEmbeddedPostgres({
    prefer: prefer.data,
    dataDirectory: path.join(dataFolder, "postgres"),
    log,
  });
  try {
    const migrated = await migrate(server.url, { log });
    const postgis = server.hasPostgis ? ", with PostGIS" : "";
    return {
      url: server.url,
      description: `embedded PostgreSQL ${server.version} in ${dataFolder}${postgis}`,
      migrated,
      close: () => server.stop(),
    };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

function describeUrl(url: string): string {
  if (!URL.canParse(url)) return "the database of DATABASE_URL";
  const { host, pathname } = new URL(url);
  return `PostgreSQL at ${host}${pathname}`;
}

/**
 * Creates the gateway's read-only database user, and answers the address of the database with it.
 * The user's name is derived from its password, so that two sites on one server have two users.
 */
export async function makeGatewayUser(
  databaseUrl: string,
  password: string,
  say: (line: string) => void,
): Promise<string | undefined> {
  const user = `rmhdag_gateway_${createHash("sha256").update(password).digest("hex").slice(0, 8)}`;
  if (await grantGatewayUser(databaseUrl, { user, password })) {
    const url = new URL(databaseUrl);
    url.username = user;
    url.password = password;
    return url.href;
  }
  say(
    "no gateway: the database user may not create roles. Let an administrator run " +
      "deploy/gateway-role.sql, then start `rmhdag gateway`",
  );
  return undefined;
}
