import { z } from "zod";
import { h3CombinedSource } from "../h3/combination.ts";
import { h3Kinds, h3Source, period, rasterName } from "../h3/configuration.ts";
import { h3VectorSource } from "../h3/vector-configuration.ts";
import { defineContract } from "./contract.ts";
import { count, integer, object, page, paging, timestamp } from "./schemas.ts";

const listLimit = integer(1, 500).prefault(100).describe("how many items at most");
const states = z.enum(["never", "current", "stale", "unknown"]);

const kind = z.enum(h3Kinds);

const listH3Sources = defineContract({
  id: "listH3Sources",
  method: "GET",
  path: "/api/v1/h3/sources",
  access: "read",
  summary:
    "Rasters, layers and combinations whose values by H3 cell are asked for: never computed, current, stale because the source or what is asked for has changed, or with a source that cannot be compared. Those never computed come first, then by name.",
  query: z.strictObject({
    ...paging,
    limit: listLimit,
    state: states.optional(),
    raster: rasterName.optional().describe("only the data set of this name"),
  }),
  response: page(
    z
      .object({
        kind,
        raster: z.string().describe("the name of the data set, of whatever kind"),
        source: object,
        configuration: object,
        state: states,
        run_id: z.string().nullable(),
        finished_at: timestamp.nullable(),
        updated_at: timestamp,
      })
      .meta({ id: "H3Source" }),
  ),
  errors: ["BAD_REQUEST"],
});

const putH3Source = defineContract({
  id: "putH3Source",
  method: "PUT",
  path: "/api/v1/h3/sources/{raster}",
  access: "operate",
  summary:
    "Records what is asked for; the workflows h3_raster_aggregation, h3_vector_aggregation and h3_weighted_aggregation compute it by its name.",
  params: z.strictObject({ raster: rasterName }),
  body: z.strictObject({
    kind: kind.default("raster"),
    source: z.union([h3Source, h3VectorSource, h3CombinedSource]),
    configuration: object.default({}),
  }),
  response: z.object({ raster: z.string() }),
  errors: ["BAD_REQUEST"],
});

const listH3Runs = defineContract({
  id: "listH3Runs",
  method: "GET",
  path: "/api/v1/h3/runs",
  access: "read",
  summary:
    "Computations of statistics by H3 cell, the newest first, with their frozen configuration.",
  query: z.strictObject({ raster: rasterName.optional(), limit: listLimit }),
  response: page(
    z
      .object({
        run_id: z.string(),
        kind,
        raster: z.string(),
        period: z.string(),
        origin: z.string(),
        configuration: object,
        findings: z.array(z.object({ code: z.string(), message: z.string() })),
        chunk_count: count,
        job_id: z.string(),
        status: z.enum(["running", "completed"]),
        row_count: count.nullable(),
        collection_id: z.string().nullable(),
        item_id: z.string().nullable(),
        started_at: timestamp,
        finished_at: timestamp.nullable(),
      })
      .meta({ id: "H3Run" }),
  ),
  errors: ["BAD_REQUEST"],
});

const degrees = z
  .string()
  .regex(/^-?\d+(\.\d+)?(,-?\d+(\.\d+)?){3}$/, "must be west,south,east,north")
  .transform((text) => text.split(",").map(Number) as [number, number, number, number])
  .refine(
    ([west, south, east, north]) =>
      Math.abs(west) <= 180 &&
      Math.abs(east) <= 180 &&
      south >= -90 &&
      south <= north &&
      north <= 90,
    "must be west,south,east,north in degrees, south not above north",
  );

const getH3Dataset = defineContract({
  id: "getH3Dataset",
  method: "GET",
  path: "/h3/{dataset}",
  access: "public",
  summary:
    "The values of a data set by H3 cell, for the cells that overlap a box, as JSON, CSV or Parquet. Who sees its item in the catalogue sees its values.",
  params: z.strictObject({ dataset: rasterName }),
  query: z.strictObject({
    bbox: degrees.optional().describe("west,south,east,north; without it all cells"),
    resolution: integer(0, 15).optional().describe("without it the coarsest one"),
    stat: z
      .string()
      .max(63)
      .regex(/^[a-z_][a-z0-9_]*$/, "must be the name of a column")
      .optional()
      .describe("one column of values; without it all"),
    period: period.optional().describe("without it the last one"),
    f: z.enum(["json", "csv", "parquet"]).default("json"),
    limit: integer(1, 100_000).prefault(50_000).describe("more cells than this are refused"),
  }),
  response: z.string().describe("dataset, period, resolution, count, cells; or CSV or Parquet"),
  media: "application/json",
  types: ["application/json", "text/csv", "application/vnd.apache.parquet"],
  errors: ["BAD_REQUEST", "LAYER_NOT_FOUND", "ITEM_NOT_FOUND", "UNAUTHENTICATED"],
});

/** The answer of `getH3Dataset` as JSON. */
export const h3Dataset = z.object({
  dataset: z.string(),
  period: z.string(),
  resolution: z.number().int(),
  count,
  /** h3_index, resolution and the statistics. */
  cells: z.array(z.record(z.string(), z.unknown())),
});

export const h3Contracts = [listH3Sources, putH3Source, listH3Runs, getH3Dataset] as const;
