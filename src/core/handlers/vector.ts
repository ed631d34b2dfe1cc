import { z } from "zod";
import { queueFor } from "../queues.ts";
import { defineContract } from "./contract.ts";
import { blobPath, bounds, container, crs, identifier, written } from "./geospatial.ts";

const source = {
  blob_path: blobPath,
  container: container.optional(),
  layer: z.string().min(1).max(255).optional(),
};

/** PostgreSQL folds and cuts longer or other names, and two tables would meet in one. */
const tableName = z
  .string()
  .max(63)
  .regex(/^[a-z_][a-z0-9_]*$/, "must be a lower-case PostgreSQL name");

const chunk = z.looseObject({
  index: z.number().int().min(0),
  blob_path: blobPath,
  feature_count: z.number().int().min(0),
});

const prepare = defineContract({
  name: "vector_prepare",
  description: "Reads a vector file, repairs its geometries, and cuts it into chunks.",
  params: z.strictObject({
    ...source,
    source_crs: crs.optional(),
    target_crs: crs.default("EPSG:4326"),
    chunk_size: z.number().int().min(1).max(1_000_000).default(10_000),
    table_name: tableName.optional(),
  }),
  result: z.object({
    table_name: tableName,
    chunks: z.array(chunk),
    chunk_count: z.number().int(),
    feature_count: z.number().int(),
    geometry_type: z.string(),
    crs,
    bounds: bounds.nullable(),
    columns: z.array(z.object({ name: z.string(), type: z.string() })),
    findings: z.array(z.object({ code: z.string(), severity: z.string(), message: z.string() })),
  }),
  queue: queueFor.heavy,
  timeout_seconds: 3600,
});

const uploadChunk = defineContract({
  name: "vector_upload_chunk",
  description: "Loads one chunk into its table; a second run replaces what the first one wrote.",
  params: z.strictObject({
    table_name: tableName,
    chunk,
    chunk_index: z.number().int().min(0),
  }),
  result: z.object({ chunk_index: z.number().int(), rows_written: z.number().int() }),
  queue: queueFor.general,
  timeout_seconds: 1800,
});

const createStac = defineContract({
  name: "vector_create_stac",
  description: "Registers a loaded table as a STAC item.",
  params: z.strictObject({
    collection_id: identifier,
    item_id: identifier.optional(),
    table_name: tableName,
    title: z.string().max(255).optional(),
    bounds: bounds.optional(),
    properties: z.record(z.string(), z.json()).optional(),
  }),
  result: z.object({ collection_id: identifier, item_id: identifier }),
  queue: queueFor.light,
  timeout_seconds: 300,
});

const simplify = defineContract({
  name: "vector_simplify",
  description: "Reduces the vertices of geometries within a tolerance.",
  params: z.strictObject({
    ...source,
    output_path: blobPath.optional(),
    output_container: container.optional(),
    /** In units of the file's coordinate reference system. */
    tolerance: z.number().positive(),
    preserve_topology: z.boolean().default(true),
  }),
  result: written.extend({ feature_count: z.number().int() }),
  queue: queueFor.heavy,
  timeout_seconds: 3600,
});

const dissolve = defineContract({
  name: "vector_dissolve",
  description: "Merges features, all of them or those that share a value.",
  params: z.strictObject({
    ...source,
    output_path: blobPath.optional(),
    output_container: container.optional(),
    by: z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]).optional(),
  }),
  result: written.extend({ feature_count: z.number().int() }),
  queue: queueFor.heavy,
  timeout_seconds: 3600,
});

export const vectorContracts = [prepare, uploadChunk, createStac, simplify, dissolve] as const;
