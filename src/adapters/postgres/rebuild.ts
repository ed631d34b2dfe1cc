import { connectOptions } from "./connect-options.ts";
import pg from "pg";
import type { MigrateResult } from "./migrate.ts";
import { migrate } from "./migrate.ts";

/** Drops our schemas with all data, the vector layers too, and creates them empty. Not reversible. */
export async function rebuildSchema(url: string): Promise<MigrateResult> {
  const client = new pg.Client({ ...connectOptions(url), application_name: "rmhdag rebuild" });
  client.on("error", () => undefined);
  await client.connect();
  try {
    await client.query("DROP SCHEMA IF EXISTS gateway, dagapp, geo CASCADE");
    return await migrate(client);
  } finally {
    await client.end();
  }
}
