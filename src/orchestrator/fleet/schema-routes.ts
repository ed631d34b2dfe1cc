import type { Handlers } from "../../adapters/http/handler.ts";
import { readMigrations } from "../../adapters/postgres/migration-files.ts";
import { listTables, readSchemaStatus } from "../../adapters/postgres/queries/schema.ts";
import type { bootstrapContracts } from "../../core/api/bootstrap.ts";
import { Problem } from "../../core/errors.ts";
import type { RouteDeps } from "../route-deps.ts";

export function bootstrapRoutes(
  deps: Pick<RouteDeps, "db" | "schema">,
): Handlers<typeof bootstrapContracts> {
  const { db, schema } = deps;
  return {
    getSchemaStatus: async () => ({
      ...(await readSchemaStatus(db)),
      rebuild_allowed: schema.rebuild !== undefined,
    }),
    listTables: async () => ({ items: await listTables(db), next_cursor: null }),
    getDdl: async () => {
      const { version: at } = await readSchemaStatus(db);
      const items = (await readMigrations()).map(({ version, name, sql }) => ({
        ...{ version, name, sql },
        applied: version <= at,
      }));
      return { items, next_cursor: null };
    },
    deploySchema: async () => schema.migrate(),
    migrateSchema: async () => schema.migrate(),
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
