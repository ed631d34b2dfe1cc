import { readFile } from "node:fs/promises";
import pg from "pg";
import { ownerRole, rolesLock } from "./rights.ts";

/** Four folders up is the package root, from src/adapters/postgres/roles and from dist alike. */
const deployFolder = new URL("../../../../deploy/", import.meta.url);

/**
 * Prepares a database of a server that is the platform's alone, before its migrations: the embedded
 * server of `rmhdag up`. `url` is a superuser's. It may run again, and on a database that an earlier
 * version made: there the superuser owns all objects, and `rmhdag_owner` gets them.
 */
export async function secureServer(url: string): Promise<void> {
  const scripts = await Promise.all(
    ["groups.sql", "close-databases.sql"].map((name) =>
      readFile(new URL(name, deployFolder), "utf8"),
    ),
  );
  const client = new pg.Client({ connectionString: url, application_name: "rmhdag roles" });
  client.on("error", () => undefined);
  await client.connect();
  try {
    // Of two processes that start at once, the second waits and finds everything done.
    await client.query("SELECT pg_advisory_lock($1)", [rolesLock]);
    for (const script of scripts) await client.query(script);
  } finally {
    await client.end();
  }
}

/** The address of a superuser with the rights of the schemas' owner, for migrations. */
export function asOwner(url: string): string {
  const address = new URL(url);
  address.searchParams.set("options", `-c role=${ownerRole}`);
  return address.href;
}
