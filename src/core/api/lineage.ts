import { z } from "zod";
import { defineContract } from "./contract.ts";
import { integer, page, paging, timestamp } from "./schemas.ts";

/** What lineage connects. Names: a path, a table, collection/item, asset/ordinal, the id of a job. */
export const lineageKind = z.enum(["file", "table", "item", "version", "job"]);

const name = z.string().min(1).max(1200).optional();

const getLineage = defineContract({
  id: "getLineage",
  method: "GET",
  path: "/api/v1/lineage",
  access: "read",
  summary: "What something was made of, and what was made of it, as a graph. Name one thing.",
  query: z.strictObject({
    path: name.describe("a file in storage, such as bronze/dem.tif"),
    table: name.describe("a table of features"),
    item: name.describe("collection/item"),
    asset: name.describe("an asset: all of its versions"),
    version: name.describe("asset/ordinal"),
    job: name.describe("the id of a job"),
    direction: z.enum(["both", "up", "down"]).default("both"),
    depth: integer(1, 20).prefault(10).describe("how many steps from it"),
  }),
  response: z
    .object({
      nodes: z.array(
        z.object({
          kind: lineageKind,
          id: z.string(),
          /** Steps from what was asked for; negative: it was made of this. */
          distance: z.number().int(),
        }),
      ),
      edges: z.array(
        z.object({
          from: z.object({ kind: lineageKind, id: z.string() }),
          to: z.object({ kind: lineageKind, id: z.string() }),
          relation: z.string(),
          created_at: timestamp,
        }),
      ),
      /** True if there is more than was followed. */
      truncated: z.boolean(),
    })
    .meta({ id: "Lineage" }),
  errors: ["BAD_REQUEST"],
});

export const fileZones = ["bronze", "silver", "gold", "external"] as const;

const listUnreferencedFiles = defineContract({
  id: "listUnreferencedFiles",
  method: "GET",
  path: "/api/v1/files/unreferenced",
  access: "operate",
  summary:
    "Recorded files that belong to no item, no revision and no export, without a listing of storage.",
  query: z.strictObject({
    zone: z.enum(fileZones).default("silver"),
    ...paging,
  }),
  response: page(
    z
      .object({
        path: z.string(),
        bytes: z.number().nullable(),
        job_id: z.string().nullable(),
        node_id: z.string().nullable(),
        seen_at: timestamp,
      })
      .meta({ id: "UnreferencedFile" }),
  ),
  errors: ["BAD_REQUEST"],
});

const listPromoted = defineContract({
  id: "listPromoted",
  method: "GET",
  path: "/api/v1/promoted",
  access: "read",
  summary: "Everything that is published outside, over all assets, the newest first.",
  query: z.strictObject({ limit: paging.limit }),
  response: page(
    z
      .object({
        asset_id: z.string(),
        platform_id: z.string(),
        version_ordinal: z.number().int(),
        version_label: z.string(),
        revision: z.number().int().nullable(),
        external_blob_path: z.string().nullable(),
        updated_at: timestamp,
      })
      .meta({ id: "Promoted" }),
  ),
  errors: ["BAD_REQUEST"],
});

export const lineageContracts = [getLineage, listUnreferencedFiles, listPromoted] as const;
