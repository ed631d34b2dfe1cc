import { z } from "zod";
import { assetId, exposure } from "../../model/asset.ts";
import { callbackUrl } from "../../model/platform.ts";
import { requestId, requestStatus } from "../../model/request.ts";
import { versionLabel } from "../../model/version.ts";
import { defineContract, partnerBodyLimit } from "../contract.ts";
import { object, page, paging, timestamp } from "../schemas.ts";
import { partnerAccepted, partnerRequest } from "./partner-schemas.ts";

/** The options of a partner's request besides its data. The API key says which partner it is. */
export const partnerOptions = {
  submitted_by: z
    .string()
    .min(1)
    .max(48)
    .optional()
    .describe("the person at your platform who submits"),
  callback_url: callbackUrl
    .optional()
    .describe("gets a callback when the request ends; default: your platform's address"),
  priority: z.number().int().min(0).max(10).default(0),
  idempotency_key: z
    .string()
    .min(1)
    .max(128)
    .optional()
    .describe("the same key names the same request for ever; also as the header Idempotency-Key"),
};

export const partnerSubmission = z.strictObject({
  workflow_id: z.string().min(1).max(64),
  platform_refs: object.describe("what identifies the dataset at your platform"),
  version_label: versionLabel.optional().describe("your name of this version"),
  inputs: object.default({}),
  exposure: exposure.optional(),
  ...partnerOptions,
});
export type PartnerSubmission = z.output<typeof partnerSubmission>;

export const submissionErrors = [
  "BAD_REQUEST",
  "INVALID_SUBMISSION",
  "PLATFORM_INACTIVE",
  "VERSION_UNRESOLVED",
  "IDEMPOTENCY_CONFLICT",
  "WORKFLOW_NOT_FOUND",
  "TOO_MANY_REQUESTS",
  "UNAVAILABLE",
] as const;

const platformSubmit = defineContract({
  id: "platformSubmit",
  method: "POST",
  path: "/api/platform/submit",
  access: "submit",
  summary: "Submit a version of a dataset. Use the request id for everything that follows.",
  bodyLimit: partnerBodyLimit,
  body: partnerSubmission,
  response: partnerAccepted,
  status: 202,
  also: { 200: "the idempotency key named an earlier submission, and this is its request" },
  errors: [...submissionErrors],
});

const platformStatus = defineContract({
  id: "platformStatus",
  method: "GET",
  path: "/api/platform/status/{request_id}",
  access: "read",
  summary: "The state of a request.",
  params: z.object({ request_id: requestId }),
  response: partnerRequest,
  errors: ["REQUEST_NOT_FOUND", "TOO_MANY_REQUESTS", "UNAVAILABLE"],
});

const platformRequests = defineContract({
  id: "platformRequests",
  method: "GET",
  path: "/api/platform/requests",
  access: "read",
  summary: "Your requests, the newest first.",
  query: z.strictObject({
    status: requestStatus.optional(),
    asset_id: assetId.optional(),
    workflow_id: z.string().max(64).optional(),
    ...paging,
  }),
  response: page(partnerRequest),
  errors: ["BAD_REQUEST"],
});

const platformCancel = defineContract({
  id: "platformCancel",
  method: "POST",
  path: "/api/platform/requests/{request_id}/cancel",
  access: "submit",
  summary: "Stop working on a request: nothing new starts, and running tasks are asked to stop.",
  params: z.object({ request_id: requestId }),
  body: z.strictObject({ reason: z.string().min(1).max(1024).optional() }).default({}),
  response: partnerRequest,
  errors: ["REQUEST_NOT_FOUND", "JOB_FINISHED", "UNAVAILABLE"],
});

const platformInfo = defineContract({
  id: "platformInfo",
  method: "GET",
  path: "/api/platform",
  access: "read",
  summary: "Your platform as it is registered: what identifies a dataset, where callbacks go.",
  response: z
    .object({
      platform_id: z.string(),
      display_name: z.string(),
      required_refs: z.array(z.string()),
      optional_refs: z.array(z.string()),
      version_ref: z.string().nullable(),
      callback_url: z.string().nullable(),
      callback_hosts: z.array(z.string()),
      source_prefixes: z.array(z.string()).describe("where your files may lie"),
      created_at: timestamp,
      updated_at: timestamp,
    })
    .meta({ id: "PartnerPlatform" }),
  errors: ["UNAVAILABLE"],
});

export const partnerPlatformContracts = [
  platformSubmit,
  platformStatus,
  platformRequests,
  platformCancel,
  platformInfo,
] as const;
