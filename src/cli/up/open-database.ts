import path from "node:path";
import { z } from "zod";
import { migrate } from "../../adapters/postgres/migrate.ts";
import type { MigrateResult } from "../../adapters/postgres/migrate.ts";
import { startEmbeddedPostgres } from "../../adapters/embedded-postgres/start-embedded-postgres.ts";
import type { CliConfig } from "../config.ts";
import { UsageError } from "../failure.ts";

export interface OpenDatabase {
  readonly url: string;
  /** What it is, for people; without its password. */
  readonly description: string;
  readonly migrated: MigrateResult;
  readonly close: () => Promise<void>;
}

/** The database that DATABASE_URL names, or the embedded one in the data folder; migrated. */
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
