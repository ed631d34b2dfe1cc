import { z } from "zod";
import { tusOptions } from "../files/upload-headers.ts";
import { defineContract } from "./contract.ts";
import { page, paging, timestamp } from "./schemas.ts";

export const upload = z
  .object({
    upload_id: z.string(),
    path: z.string().describe("where the file appears when it is complete"),
    length: z.number().int(),
    received: z.number().int().describe("how many bytes are confirmed"),
    sha256: z.string().nullable(),
    platform_id: z.string().nullable(),
    created_by: z.string(),
    created_at: timestamp,
    expires_at: timestamp,
    completed_at: timestamp.nullable(),
  })
  .meta({ id: "Upload" });
export type Upload = z.infer<typeof upload>;

export const uploadHeaders = {
  "Tus-Resumable": "the version of the protocol: 1.0.0",
  "Upload-Length": "the size of the whole file in bytes",
  "Upload-Metadata":
    "names and values in Base64: `path` in storage, or `filename` alone; `sha256` of the whole file " +
    "in hexadecimal; `replace` to overwrite a file that is there",
};

export const partHeaders = {
  "Tus-Resumable": uploadHeaders["Tus-Resumable"],
  "Upload-Offset": "how many bytes were received before this part",
  "Upload-Checksum": "optional: an algorithm and the digest of this part in Base64",
};

const platform_id = z
  .string()
  .max(64)
  .optional()
  .describe("the platform whose files these are; the gateway fills it in");

const createUpload = defineContract({
  id: "createUpload",
  method: "POST",
  path: "/api/v1/uploads",
  access: "operate",
  summary: "Begin a resumable upload (tus 1.0): the answer's Location takes the bytes.",
  headers: uploadHeaders,
  optionsHeaders: tusOptions,
  query: z.strictObject({ platform_id, actor: z.string().max(200).optional() }),
  response: upload,
  status: 201,
  errors: [
    "BAD_REQUEST",
    "FILE_EXISTS",
    "UPLOAD_TOO_LARGE",
    "PLATFORM_NOT_FOUND",
    "TUS_VERSION",
    "UNAVAILABLE",
  ],
});

const listUploads = defineContract({
  id: "listUploads",
  method: "GET",
  path: "/api/v1/uploads",
  access: "operate",
  summary: "Uploads that are not complete, or those of one path, the newest first.",
  query: z.strictObject({
    path: z.string().max(1024).optional(),
    platform_id,
    limit: paging.limit,
  }),
  response: page(upload),
  errors: ["BAD_REQUEST"],
});

const params = z.strictObject({ upload_id: z.string().min(1).max(64) });

const getUpload = defineContract({
  id: "getUpload",
  method: "GET",
  path: "/api/v1/uploads/{upload_id}",
  access: "operate",
  summary:
    "How far an upload is; HEAD answers its Upload-Offset and Upload-Length, in an outage 423.",
  optionsHeaders: tusOptions,
  headInOutage: 423,
  params,
  query: z.strictObject({ platform_id }),
  response: upload,
  errors: ["UPLOAD_NOT_FOUND", "CHECKSUM_MISMATCH", "FILE_EXISTS"],
});

const appendUpload = defineContract({
  id: "appendUpload",
  method: "PATCH",
  path: "/api/v1/uploads/{upload_id}",
  access: "operate",
  summary: "Send the next part of an upload. The file appears with its last byte.",
  headers: partHeaders,
  params,
  query: z.strictObject({ platform_id }),
  body: z.unknown(),
  rawBody: "application/offset+octet-stream",
  bodyLimit: Number.MAX_SAFE_INTEGER,
  response: z.null(),
  status: 204,
  errors: [
    "UPLOAD_NOT_FOUND",
    "UPLOAD_OFFSET",
    "CHECKSUM_MISMATCH",
    "FILE_EXISTS",
    "TUS_VERSION",
    "UNAVAILABLE",
  ],
});

const deleteUpload = defineContract({
  id: "deleteUpload",
  method: "DELETE",
  path: "/api/v1/uploads/{upload_id}",
  access: "operate",
  summary: "Give up an upload. A file that is complete stays.",
  params,
  query: z.strictObject({ platform_id }),
  response: z.null(),
  status: 204,
  errors: ["UPLOAD_NOT_FOUND", "TUS_VERSION"],
});

const signUpload = defineContract({
  id: "signUpload",
  method: "POST",
  path: "/api/v1/uploads/{upload_id}/address",
  access: "operate",
  summary:
    "An address of Azure Blob Storage, signed for an hour, that takes the bytes of this upload past " +
    "the orchestrator. `complete` makes the file of them.",
  params,
  query: z.strictObject({ platform_id }),
  response: z
    .object({
      url: z.string(),
      method: z.literal("PUT"),
      headers: z.record(z.string(), z.string()),
    })
    .meta({ id: "UploadAddress" }),
  errors: ["UPLOAD_NOT_FOUND", "SWITCHED_OFF", "UNAVAILABLE"],
});

const completeUpload = defineContract({
  id: "completeUpload",
  method: "POST",
  path: "/api/v1/uploads/{upload_id}/complete",
  access: "operate",
  summary: "Make a file of the bytes that were put to the signed address of an upload.",
  params,
  query: z.strictObject({ platform_id }),
  response: upload,
  errors: [
    "UPLOAD_NOT_FOUND",
    "UPLOAD_OFFSET",
    "CHECKSUM_MISMATCH",
    "FILE_EXISTS",
    "SWITCHED_OFF",
    "UNAVAILABLE",
  ],
});

export const uploadContracts = [
  createUpload,
  listUploads,
  getUpload,
  appendUpload,
  deleteUpload,
  signUpload,
  completeUpload,
] as const;
