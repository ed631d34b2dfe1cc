/**
 * What must be true before the gateway lets anybody in. It starts all the same when something is
 * not: it answers its probes, refuses everything else with the name of the check, and looks again.
 */
import type { Queryable } from "../adapters/postgres/queryable.ts";
import { readMigrations } from "../adapters/postgres/migration-files.ts";
import { readGatewaySchema, readWriteRights } from "../adapters/postgres/queries/gateway-checks.ts";
import { ping } from "../adapters/postgres/queries/schema.ts";
import { Problem } from "../core/errors.ts";

export interface StartChecks {
  /** By name; "ok", or what is wrong. */
  readonly results: () => Readonly<Record<string, string>>;
  /** Throws what is wrong, as long as something is. */
  demand(): void;
  runOnce(): Promise<void>;
}

const checks: Record<string, (db: Queryable) => Promise<string>> = {
  database: async (db) => {
    await ping(db);
    return "ok";
  },
  schema: async (db) => {
    const [{ version }, files] = await Promise.all([readGatewaySchema(db), readMigrations()]);
    if (version === files.length) return "ok";
    return `it is at version ${version ?? 0} and ${files.length} is needed: run \`rmhdag migrate\``;
  },
  role: async (db) => {
    const rights = await readWriteRights(db);
    if (rights.length === 0) return "ok";
    return `the user of GATEWAY_DATABASE_URL ${rights.join(", ")}: use one that can only read`;
  },
};

export function createStartChecks(db: Queryable): StartChecks {
  // What the configuration says was checked when it was read, or there would be no process.
  let results: Record<string, string> = { environment: "ok", database: "not looked at yet" };

  function failed(): string | undefined {
    const found = Object.entries(results).find(([, result]) => result !== "ok");
    return found && `The check \`${found[0]}\` failed: ${found[1]}.`;
  }

  return {
    results: () => results,
    demand() {
      const reason = failed();
      if (reason !== undefined) throw new Problem("UNAVAILABLE", reason);
    },
    async runOnce() {
      const found: Record<string, string> = { environment: "ok" };
      for (const [name, check] of Object.entries(checks)) {
        found[name] = await check(db).catch(() => "it does not answer");
        // Without the database the others would only say so again.
        if (found[name] !== "ok") break;
      }
      results = found;
    },
  };
}
