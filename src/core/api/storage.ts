import { z } from "zod";
import { defineContract } from "./contract.ts";
import { integer, json, object, page } from "./schemas.ts";

const readStored = defineContract({
  id: "readStored",
  method: "GET",
  path: "/storage/{path*}",
  access: "public",
  summary: "An object in storage, at an address that was signed for it; ranges are served.",
  params: z.strictObject({ path: z.string().min(1).max(1024) }),
  query: z.strictObject({
    expires: integer(0, Number.MAX_SAFE_INTEGER),
    signature: z.string().min(1).max(128),
  }),
  response: z.string(),
  also: { 206: "The part that was asked for.", 304: "The same as before." },
  media: "application/octet-stream",
  types: ["*/*"],
  errors: ["LINK_NOT_VALID", "NOT_FOUND", "RANGE_NOT_SATISFIABLE"],
});

const writeStored = defineContract({
  id: "writeStored",
  method: "PUT",
  path: "/storage/{path*}",
  access: "public",
  summary: "Put an object into storage, at an address that was signed for it.",
  params: readStored.params,
  query: readStored.query,
  body: z.unknown(),
  rawBody: "application/octet-stream",
  bodyLimit: 64 * 1024 * 1024 * 1024,
  response: z.object({ path: z.string(), bytes: integer(0, Number.MAX_SAFE_INTEGER) }),
  errors: ["LINK_NOT_VALID", "PAYLOAD_TOO_LARGE"],
});

const storedFile = z
  .object({
    path: z.string(),
    bytes: z.number().int(),
    etag: z.string(),
    modified_at: z.string(),
  })
  .meta({ id: "StoredFile" });

const browseStorage = defineContract({
  id: "browseStorage",
  method: "GET",
  path: "/api/v1/storage",
  access: "operate",
  summary: "What lies directly in a folder of storage; without one, the zones.",
  query: z.strictObject({
    folder: z.string().max(1024).optional().describe("such as bronze/ or bronze/maps/"),
    cursor: z.string().max(2048).optional(),
    limit: integer(1, 1000).prefault(200),
  }),
  response: page(storedFile).extend({ folders: z.array(z.string()) }),
  errors: ["BAD_REQUEST"],
});

const path = z.string().min(1).max(1024);
const atPath = { path: "/api/v1/storage/{path*}", params: z.strictObject({ path }) } as const;

const readFile = defineContract({
  ...atPath,
  id: "readFile",
  method: "GET",
  access: "operate",
  summary: "A file of storage; ranges are served.",
  response: z.string(),
  also: readStored.also,
  media: readStored.media,
  types: readStored.types,
  errors: ["NOT_FOUND", "RANGE_NOT_SATISFIABLE"],
});

const deleteFile = defineContract({
  ...atPath,
  id: "deleteFile",
  method: "DELETE",
  access: "operate",
  summary: "Delete a file of storage. One that something was made of, or that is served, is kept.",
  query: z.strictObject({
    force: z
      .enum(["true", "false"])
      .default("false")
      .describe("true: delete it although it is in use"),
  }),
  response: z.object({ path: z.string(), deleted: z.boolean() }),
  errors: ["BAD_REQUEST", "NOT_FOUND", "FILE_IN_USE"],
});

const recogniseFile = defineContract({
  id: "recogniseFile",
  method: "GET",
  path: "/api/v1/recognised",
  access: "operate",
  summary: "What a file in storage is, and which workflow fits it.",
  query: z.strictObject({ path }),
  response: z
    .object({
      path: z.string(),
      bytes: z.number().int(),
      version: z.string().describe("changes with the content; the key under which it is inspected"),
      kind: z.enum(["raster", "vector", "unknown"]),
      format: z.string().describe("in words, such as zipped Shapefile"),
      details: z.record(z.string(), json).describe("size, bands and CRS, where the file says them"),
      workflow_id: z.string().nullable(),
      inputs: object.describe("for the workflow; add or change what you like"),
    })
    .meta({ id: "RecognisedFile" }),
  errors: ["BAD_REQUEST", "NOT_FOUND"],
});

export const storageContracts = [readStored, writeStored] as const;
export const fileContracts = [browseStorage, readFile, deleteFile, recogniseFile] as const;
