import { z } from "zod";
import { moment } from "../model/moment.ts";
import { queueFor } from "../queues.ts";
import { transformation } from "../raster/transformation.ts";
import { exportFormatNames, highestZoom } from "../vector/export-formats.ts";
import { vectorFinding } from "../vector/findings.ts";
import { geoColumn, geometryForms, geometryType, tableName } from "../vector/geo-table.ts";
import { defineContract } from "./contract.ts";
import { blobPath, bounds, container, crs, identifier, written } from "./geospatial.ts";

const source = {
  blob_path: blobPath,
  container: container.optional(),
  layer: z.string().min(1).max(255).nullish(),
};

/** A part of a load: a file that COPY takes unchanged. */
const chunk = z.looseObject({
  load_id: identifier,
  table_name: tableName,
  index: z.number().int().min(0),
  blob_path: blobPath,
  feature_count: z.number().int().min(0),
});

const table = z.object({
  table_name: tableName,
  geometry_type: geometryType,
  feature_count: z.number().int(),
  bounds: bounds.nullable(),
});

/** Null is allowed as well as absent: a workflow passes on inputs that were not given. */
const columnOfCsv = z.string().min(1).max(255).nullish();

const prepare = defineContract({
  name: "vector_prepare",
  description:
    "Reads a vector file, brings its geometries into order, and cuts it into chunks for a table.",
  params: z.strictObject({
    ...source,
    /** The CRS of a file that names none. */
    source_crs: crs.nullish(),
    /** The encoding of a shapefile that names a wrong one. */
    encoding: z
      .string()
      .regex(/^[\w.:-]{1,40}$/, "must be the name of an encoding, such as UTF-8 or CP1252")
      .nullish(),
    longitude_column: columnOfCsv,
    latitude_column: columnOfCsv,
    geometry_column: columnOfCsv,
    /** Features of one chunk; 10,000 without it. */
    chunk_size: z.number().int().min(1).max(1_000_000).nullish(),
    /**
     * The table of the layer; a file with several geometry types gets one table for each, with a
     * suffix.
     */
    table_name: tableName.max(54).nullish(),
  }),
  result: z.object({
    load_id: identifier,
    table_name: tableName,
    /** With its zone, also where the parameters named a container apart. */
    source_path: z.string().optional(),
    /**
     * Hash of the submitted file; of several files, such as a shapefile's, the hash of their list.
     */
    content_hash: z.string(),
    tables: z.array(table.extend({ chunk_count: z.number().int() })),
    chunks: z.array(chunk),
    chunk_count: z.number().int(),
    feature_count: z.number().int(),
    source_feature_count: z.number().int(),
    geometry_type: geometryType,
    crs,
    bounds: bounds.nullable(),
    columns: z.array(geoColumn),
    /** By table, the operation that brought its features to WGS 84; none where they were in it. */
    transformations: z.record(tableName, transformation),
    findings: z.array(vectorFinding),
  }),
  queue: queueFor.heavy,
  timeout_seconds: 3600,
});

const uploadChunk = defineContract({
  name: "vector_upload_chunk",
  description: "Loads one chunk into its table; a second run replaces the rows of the first.",
  params: z.strictObject({ chunk }),
  result: z.object({
    table_name: tableName,
    chunk_index: z.number().int(),
    rows_written: z.number().int(),
  }),
  queue: queueFor.general,
  timeout_seconds: 1800,
});

const publish = defineContract({
  name: "vector_publish",
  description: "Indexes the tables of a load that is complete, and gives them the layer's name.",
  params: z.strictObject({ load_id: identifier }),
  result: z.object({
    load_id: identifier,
    tables: z.array(table.extend({ form: z.enum(geometryForms) })),
    table_names: z.array(tableName),
    feature_count: z.number().int(),
  }),
  queue: queueFor.general,
  timeout_seconds: 3600,
});

const createStac = defineContract({
  name: "vector_create_stac",
  description: "Registers the tables of a layer as STAC items, one for each geometry type.",
  params: z.strictObject({
    collection_id: identifier,
    /** Default: the layer's name. With several tables each item gets a suffix. */
    item_id: identifier.nullish(),
    tables: z.array(tableName).min(1).max(300),
    title: z.string().max(255).nullish(),
    /** The platform's own names of the data set and version that the layer belongs to. */
    platform: z.record(z.string(), z.string()).nullish(),
    /** The source file that the layer was made from. */
    source_path: blobPath.nullish(),
    /** By table, the operation that brought its features to WGS 84, which its item records. */
    transformations: z.record(tableName, transformation).nullish(),
    datetime: moment.nullish(),
    properties: z.record(z.string(), z.json()).optional(),
  }),
  result: z.object({
    collection_id: identifier,
    item_id: identifier,
    item_ids: z.array(identifier),
  }),
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

const exportLayer = defineContract({
  name: "vector_export",
  description: "Writes a layer as GeoParquet, FlatGeobuf, GeoPackage or PMTiles.",
  params: z.strictObject({
    table_name: tableName,
    format: z.enum(exportFormatNames),
    output_path: blobPath.optional(),
    output_container: container.optional(),
    /** Of PMTiles: the highest zoom that has tiles; without it, up to 10 and fewer for large areas. */
    max_zoom: highestZoom.optional(),
  }),
  result: written.extend({ feature_count: z.number().int(), media_type: z.string() }),
  queue: queueFor.heavy,
  timeout_seconds: 3600,
});

export const vectorContracts = [
  prepare,
  uploadChunk,
  publish,
  createStac,
  simplify,
  dissolve,
  exportLayer,
] as const;
