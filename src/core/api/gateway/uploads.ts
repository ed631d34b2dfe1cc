import { z } from "zod";
import { tusOptions } from "../../files/upload-headers.ts";
import { defineContract } from "../contract.ts";
import { page, paging } from "../schemas.ts";
import { partHeaders, upload, uploadHeaders } from "../uploads.ts";

/** Partners see their own uploads, without the names of operators. */
const partnerUpload = upload
  .omit({ platform_id: true, created_by: true })
  .meta({ id: "PartnerUpload" });

const createUpload = defineContract({
  id: "partnerCreateUpload",
  method: "POST",
  path: "/api/platform/uploads",
  access: "submit",
  summary: "Begin a resumable upload (tus 1.0) into the platform's own folder.",
  headers: uploadHeaders,
  optionsHeaders: tusOptions,
  response: partnerUpload,
  status: 201,
  errors: ["BAD_REQUEST", "FILE_EXISTS", "UPLOAD_TOO_LARGE", "TUS_VERSION", "UNAVAILABLE"],
});

const listUploads = defineContract({
  id: "partnerListUploads",
  method: "GET",
  path: "/api/platform/uploads",
  access: "submit",
  summary: "The platform's uploads that are not complete, or those of one path, the newest first.",
  query: z.strictObject({ path: z.string().max(1024).optional(), limit: paging.limit }),
  response: page(partnerUpload),
  errors: ["BAD_REQUEST", "UNAVAILABLE"],
});

const params = z.strictObject({ upload_id: z.string().regex(/^[\da-f-]{36}$/) });

const getUpload = defineContract({
  id: "partnerGetUpload",
  method: "GET",
  path: "/api/platform/uploads/{upload_id}",
  access: "submit",
  summary:
    "How far an upload is; HEAD answers its Upload-Offset and Upload-Length, in an outage 423.",
  optionsHeaders: tusOptions,
  headInOutage: 423,
  params,
  response: partnerUpload,
  errors: ["UPLOAD_NOT_FOUND", "CHECKSUM_MISMATCH", "FILE_EXISTS", "UNAVAILABLE"],
});

const appendUpload = defineContract({
  id: "partnerAppendUpload",
  method: "PATCH",
  path: "/api/platform/uploads/{upload_id}",
  access: "submit",
  summary: "Send the next part of an upload. The file appears with its last byte.",
  headers: partHeaders,
  params,
  body: z.unknown(),
  rawBody: "application/offset+octet-stream",
  bodyLimit: Number.MAX_SAFE_INTEGER,
  response: z.null(),
  status: 204,
  errors: [
    "UPLOAD_NOT_FOUND",
    "UPLOAD_OFFSET",
    "UPLOAD_TOO_LARGE",
    "CHECKSUM_MISMATCH",
    "FILE_EXISTS",
    "TUS_VERSION",
    "UNAVAILABLE",
  ],
});

const deleteUpload = defineContract({
  id: "partnerDeleteUpload",
  method: "DELETE",
  path: "/api/platform/uploads/{upload_id}",
  access: "submit",
  summary: "Give up an upload. A file that is complete stays.",
  params,
  response: z.null(),
  status: 204,
  errors: ["UPLOAD_NOT_FOUND", "TUS_VERSION", "UNAVAILABLE"],
});

export const partnerUploadContracts = [
  createUpload,
  listUploads,
  getUpload,
  appendUpload,
  deleteUpload,
] as const;
