import { z } from "zod";
import { assetId, exposure } from "../model/asset.ts";
import { callbackUrl, platformId } from "../model/platform.ts";
import { requestId, requestKind, requestStatus } from "../model/request.ts";
import { versionLabel } from "../model/version.ts";
import { platformRequest } from "./asset-schemas.ts";
import { defineContract, inputsBodyLimit } from "./contract.ts";
import { count, integer, object, page, paging, timestamp } from "./schemas.ts";

/** The person or system that the caller acts for; by default the caller itself. */
export const actor = z
  .string()
  .min(1)
  .max(128)
  .optional()
  .describe("the person or system that the caller acts for");

/** The options of every request for work, besides its data. */
export const requestOptions = {
  request_id: requestId
    .optional()
    .describe("made here unless given; the platform uses it for everything that follows"),
  submitted_by: z.string().min(1).max(64).optional(),
  callback_url: callbackUrl
    .optional()
    .describe("gets a callback when the request ends; default: the platform's address"),
  priority: z.number().int().min(0).max(10).default(0),
  idempotency_key: z.string().min(1).max(128).optional(),
};

export const submission = z.strictObject({
  platform_id: platformId,
  platform_refs: object.describe("what identifies the data set on the platform"),
  version_label: versionLabel
    .optional()
    .describe("the platform's name of this version; may come in its own reference instead"),
  workflow_id: z.string().min(1).max(64),
  inputs: object.default({}),
  exposure: exposure.optional().describe("of a new asset; latest-only unless given"),
  ...requestOptions,
  actor,
});
export type Submission = z.output<typeof submission>;

export const accepted = z
  .object({
    request_id: z.string(),
    platform_id: z.string(),
    asset_id: z.string(),
    version_ordinal: count,
    version_label: z.string(),
    revision: z.number().int(),
    workflow_id: z.string(),
    job_id: z.string().describe("internal: the gateway leaves it out"),
    status: requestStatus,
    submitted_at: timestamp,
    created: z.boolean().describe("false: this request was accepted before"),
  })
  .meta({ id: "AcceptedRequest" });
export type Accepted = z.infer<typeof accepted>;

const submitAsset = defineContract({
  id: "submitAsset",
  method: "POST",
  path: "/api/v1/submit",
  access: "operate",
  summary: "Submit a version of a data set: request, asset, version and job at once, or nothing.",
  bodyLimit: inputsBodyLimit,
  body: submission,
  response: accepted,
  status: 202,
  also: { 200: "the request id or the idempotency key came before, and this is its request" },
  errors: [
    "BAD_REQUEST",
    "INVALID_SUBMISSION",
    "PLATFORM_NOT_FOUND",
    "PLATFORM_INACTIVE",
    "VERSION_UNRESOLVED",
    "IDEMPOTENCY_CONFLICT",
    "WORKFLOW_NOT_FOUND",
    "INVALID_WORKFLOW",
  ],
});

const getRequest = defineContract({
  id: "getRequest",
  method: "GET",
  path: "/api/v1/requests/{request_id}",
  access: "read",
  summary: "The state of a request.",
  params: z.object({ request_id: requestId }),
  response: platformRequest,
  errors: ["REQUEST_NOT_FOUND"],
});

const listRequests = defineContract({
  id: "listRequests",
  method: "GET",
  path: "/api/v1/requests",
  access: "read",
  summary: "Requests, the newest first.",
  query: z.strictObject({
    platform_id: platformId.optional(),
    asset_id: assetId.optional(),
    version_ordinal: integer(0, 2_147_483_647).optional(),
    status: requestStatus.optional(),
    kind: requestKind.optional(),
    ...paging,
  }),
  response: page(platformRequest),
  errors: ["BAD_REQUEST"],
});

const cancelRequest = defineContract({
  id: "cancelRequest",
  method: "POST",
  path: "/api/v1/requests/{request_id}/cancel",
  access: "operate",
  summary: "Stop working on a request: nothing new starts, and running tasks are asked to stop.",
  params: z.object({ request_id: requestId }),
  body: z.strictObject({ reason: z.string().min(1).max(1024).optional(), actor }).default({}),
  response: platformRequest,
  errors: ["BAD_REQUEST", "REQUEST_NOT_FOUND", "JOB_FINISHED"],
});

export const requestContracts = [submitAsset, getRequest, listRequests, cancelRequest] as const;
