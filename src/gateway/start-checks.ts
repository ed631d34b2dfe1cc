/**
 * Checks that must pass before the gateway serves requests. It starts in any case: while a check
 * fails, it answers its probes, refuses all other requests with the name of the check, and repeats
 * the checks.
 */
import type { Queryable } from "../adapters/postgres/queryable.ts";
import { readMigrations } from "../adapters/postgres/migration-files.ts";
import { readGatewaySchema, readWriteRights } from "../adapters/postgres/queries/gateway-checks.ts";
import { ping } from "../adapters/postgres/queries/schema.ts";
import { Problem } from "../core/errors.ts";

export interface StartChecks {
  /** "ok" or the reason of the failure, by the name of the check. */
  readonly results: () => Readonly<Record<string, string>>;
  /** Throws a Problem while a check fails. */
  demand(): void;
  runOnce(): Promise<void>;
}

const checks: Record<string, (db: Queryable) => Promise<string>> = {
  database: async (db) => {
    await ping(db);
    return "ok";
  },
  schema: async (db) => {
    const [schema, files] = await Promise.all([readGatewaySchema(db), readMigrations()]);
    const version = schema.version ?? 0;
    if (version < files.length) {
      return `it is at version ${version} and ${files.length} is needed: run \`rmhdag migrate\``;
    }
    if (schema.oldestProgram <= files.length) return "ok";
    return `it is at version ${version}, which this program does not know: upgrade the gateway`;
  },
  role: async (db) => {
    const rights = await readWriteRights(db);
    if (rights.length === 0) return "ok";
    return `the user of GATEWAY_DATABASE_URL ${rights.join(", ")}: use one that can only read`;
  },
};

export function createStartChecks(db: Queryable): StartChecks {
  // The configuration was checked when the process started.
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
        // The checks after a failed one would fail for the same reason.
        if (found[name] !== "ok") break;
      }
      results = found;
    },
  };
}
