import { z } from "zod";
import { defineContract } from "./contract.ts";
import { count, page, timestamp } from "./schemas.ts";

const migrated = z
  .object({ applied: z.array(z.string()), version: z.number().int() })
  .meta({ id: "Migrated" });

const getSchemaStatus = defineContract({
  id: "getSchemaStatus",
  method: "GET",
  path: "/api/v1/bootstrap/status",
  access: "read",
  summary: "Which version the database's schema has, and which this program needs.",
  response: z
    .object({
      database: z.string(),
      server_version: z.string(),
      version: z.number().int(),
      needed: z.number().int(),
      current: z.boolean(),
      applied: z.array(
        z.object({ version: z.number().int(), name: z.string(), applied_at: timestamp }),
      ),
      pending: z.array(z.string()),
      rebuild_allowed: z.boolean(),
    })
    .meta({ id: "SchemaStatus" }),
  errors: ["UNAUTHENTICATED"],
});

const listTables = defineContract({
  id: "listTables",
  method: "GET",
  path: "/api/v1/bootstrap/tables",
  access: "read",
  summary: "The tables with their sizes. Rows are the planner's estimate: counting would scan.",
  response: page(
    z.object({ table: z.string(), rows_estimate: count, bytes: count }).meta({ id: "TableSize" }),
  ),
  errors: ["UNAUTHENTICATED"],
});

const getDdl = defineContract({
  id: "getDdl",
  method: "GET",
  path: "/api/v1/bootstrap/ddl",
  access: "read",
  summary: "The statements that make the schema, and which of them are still to be run.",
  response: page(
    z
      .object({
        version: z.number().int(),
        name: z.string(),
        applied: z.boolean(),
        sql: z.string(),
      })
      .meta({ id: "Migration" }),
  ),
  errors: ["UNAUTHENTICATED"],
});

const deploySchema = defineContract({
  id: "deploySchema",
  method: "POST",
  path: "/api/v1/bootstrap/deploy",
  access: "operate",
  summary: "Make the schema if it is not there, and bring it forward. Running it twice is safe.",
  response: migrated,
  errors: ["SWITCHED_OFF", "UNAVAILABLE"],
});

const migrateSchema = defineContract({
  id: "migrateSchema",
  method: "POST",
  path: "/api/v1/bootstrap/migrate",
  access: "operate",
  summary: "Bring the schema forward to what this program needs.",
  response: migrated,
  errors: ["SWITCHED_OFF", "UNAVAILABLE"],
});

const rebuildSchema = defineContract({
  id: "rebuildSchema",
  method: "POST",
  path: "/api/v1/bootstrap/rebuild",
  access: "operate",
  summary:
    "Delete everything and make the schema anew. Only where the configuration allows it, " +
    "and only with the database's name as confirmation.",
  body: z.strictObject({ confirm: z.string().max(128) }),
  response: migrated,
  errors: ["BAD_REQUEST", "SWITCHED_OFF"],
});

export const bootstrapContracts = [
  getSchemaStatus,
  listTables,
  getDdl,
  deploySchema,
  migrateSchema,
  rebuildSchema,
] as const;
