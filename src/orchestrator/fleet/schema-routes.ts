import type { Handlers } from "../../adapters/http/handler.ts";
import type { Database } from "../../adapters/postgres/database.ts";
import type { MigrateResult } from "../../adapters/postgres/migrate.ts";
import { MigrationError, readMigrations } from "../../adapters/postgres/migration-files.ts";
import { listTables, readSchemaStatus } from "../../adapters/postgres/queries/schema.ts";
import type { bootstrapContracts } from "../../core/api/bootstrap.ts";
import { Problem } from "../../core/errors.ts";

export interface SchemaRouteDeps {
  readonly db: Database;
  readonly schema: {
    migrate(): Promise<MigrateResult>;
    /** Absent: the configuration does not allow it. */
    readonly rebuild?: (() => Promise<MigrateResult>) | undefined;
  };
}

/** The schema of the database: its version, its tables, and bringing it up to date. */
export function schemaRoutes({ db, schema }: SchemaRouteDeps): Handlers<typeof bootstrapContracts> {
  return {
    getSchemaStatus: async () => ({
      ...(await readSchemaStatus(db)),
      rebuild_allowed: schema.rebuild !== undefined,
    }),
    listTables: async () => ({ items: await listTables(db), next_cursor: null }),
    getDdl: async () => {
      const { version: at } = await readSchemaStatus(db);
      const items = (await readMigrations()).map(({ version, name, sql }) => ({
        version,
        name,
        sql,
        applied: version <= at,
      }));
      return { items, next_cursor: null };
    },
    deploySchema: async () => schema.migrate().catch(refuseForbidden),
    migrateSchema: async () => schema.migrate().catch(refuseForbidden),
    rebuildSchema: async ({ body: { confirm } }) => {
      if (schema.rebuild === undefined) {
        throw new Problem("SWITCHED_OFF", "The configuration does not allow a rebuild.");
      }
      const { database } = await readSchemaStatus(db);
      if (confirm !== database) {
        throw new Problem(
          "BAD_REQUEST",
          "To delete everything, confirm with the database's name.",
          [{ pointer: "/confirm", code: "CONFIRM", message: "must be the name of the database" }],
        );
      }
      return schema.rebuild();
    },
  };
}

function refuseForbidden(error: unknown): never {
  if (error instanceof MigrationError && error.code === "MIGRATION_FORBIDDEN") {
    throw new Problem("SWITCHED_OFF", error.message);
  }
  throw error;
}
