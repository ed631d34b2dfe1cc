import { z } from "zod";
import { retentionClass } from "../retention/classes.ts";
import { defineContract } from "./contract.ts";
import { count, timestamp } from "./schemas.ts";

const planned = z
  .object({
    class: retentionClass,
    days: z.number().describe("0: kept for ever"),
    jobs: count.nullable().describe("jobs whose rows would go; null of a class without jobs"),
    rows: count.describe("counted to a million at most"),
    more: z.boolean().describe("there are more rows than were counted"),
    oldest: timestamp.nullable().describe("when the first of them ended"),
    newest: timestamp.nullable(),
    removed_rows: count.describe("so far"),
    archived_rows: count,
    archive_files: count,
    archive_bytes: count,
    last_pass_at: timestamp.nullable(),
  })
  .meta({ id: "RetentionClass" });

const getRetention = defineContract({
  id: "getRetention",
  method: "GET",
  path: "/api/v1/retention",
  access: "read",
  summary: "What is kept for how long, and what would be removed now, by class.",
  response: z
    .object({
      archive: z.boolean().describe("rows are written to storage as Parquet first"),
      classes: z.array(planned),
    })
    .meta({ id: "Retention" }),
  errors: ["UNAVAILABLE"],
});

const runRetention = defineContract({
  id: "runRetention",
  method: "POST",
  path: "/api/v1/retention/run",
  access: "operate",
  summary:
    "Remove what is old now, for some seconds, instead of waiting for the daily pass. " +
    "Repeat it while a class has more.",
  body: z
    .strictObject({
      classes: z.array(retentionClass).min(1).optional(),
      again: z
        .boolean()
        .default(true)
        .describe("look at everything again, although the last pass ended today"),
    })
    .default({ again: true }),
  response: z
    .object({
      classes: z.array(
        z.object({ class: retentionClass, removed: count, archived: count, more: z.boolean() }),
      ),
    })
    .meta({ id: "RetentionRun" }),
  errors: ["BAD_REQUEST"],
});

export const retentionContracts = [getRetention, runRetention] as const;
