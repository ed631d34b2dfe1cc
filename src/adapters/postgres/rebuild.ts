import pg from "pg";
import type { MigrateResult } from "./migrate.ts";
import { migrate } from "./migrate.ts";

/** Deletes our schemas with everything in them, the vector layers too, and makes them anew. There is no way back. */
export async function rebuildSchema(url: string): Promise<MigrateResult> {
  const client = new pg.Client({ connectionString: url, application_name: "rmhdag rebuild" });
  client.on("error", () => undefined);
  await client.connect();
  try {
    await client.query("DROP SCHEMA IF EXISTS gateway, dagapp, geo CASCADE");
    return await migrate(client);
  } finally {
    await client.end();
  }
}
