import { z } from "zod";
import { assetEventType, assetId, clearanceState, exposure } from "../model/asset.ts";
import { platformId } from "../model/platform.ts";
import { approvalState, processingState, versionLabel } from "../model/version.ts";
import {
  asset,
  assetEvent,
  assetListed,
  assetRevision,
  assetVersion,
  platformRequest,
} from "./asset-schemas.ts";
import { defineContract } from "./contract.ts";
import { accepted, actor, requestOptions } from "./requests.ts";
import { integer, object, page, paging } from "./schemas.ts";

const one = z.object({ asset_id: assetId });
const ordinal = integer(0, 2_147_483_647);
const oneVersion = z.object({ asset_id: assetId, version_ordinal: ordinal });
const reason = z.string().min(1).max(2000);

const listAssets = defineContract({
  id: "listAssets",
  method: "GET",
  path: "/api/v1/assets",
  access: "read",
  summary: "Assets, the last changed first, each with its newest version.",
  query: z.strictObject({
    platform_id: platformId.optional(),
    refs: z
      .string()
      .max(2048)
      .optional()
      .describe('references that the asset must have, as JSON: {"dataset_id":"a"}'),
    clearance_state: clearanceState.optional(),
    approval_state: approvalState.optional().describe("of any version"),
    processing_state: processingState.optional().describe("of any version"),
    deleted: z.enum(["true", "false"]).default("false"),
    search: z.string().min(1).max(128).optional().describe("part of the id, a reference or name"),
    ...paging,
  }),
  response: page(assetListed),
  errors: ["BAD_REQUEST"],
});

const getAsset = defineContract({
  id: "getAsset",
  method: "GET",
  path: "/api/v1/assets/{asset_id}",
  access: "read",
  summary: "One asset with its versions and the addresses at which it is served.",
  params: one,
  response: asset,
  errors: ["ASSET_NOT_FOUND"],
});

const listAssetEvents = defineContract({
  id: "listAssetEvents",
  method: "GET",
  path: "/api/v1/assets/{asset_id}/events",
  access: "read",
  summary: "Who did what to an asset, the oldest first.",
  params: one,
  query: z.strictObject({
    version_ordinal: ordinal.optional(),
    event_type: assetEventType.optional(),
    ...paging,
  }),
  response: page(assetEvent),
  errors: ["BAD_REQUEST", "ASSET_NOT_FOUND"],
});

const getAssetVersion = defineContract({
  id: "getAssetVersion",
  method: "GET",
  path: "/api/v1/assets/{asset_id}/versions/{version_ordinal}",
  access: "read",
  summary: "One version with every revision and every request for it.",
  params: oneVersion,
  response: z
    .object({
      ...assetVersion.shape,
      revisions: z.array(assetRevision),
      requests: z.array(platformRequest),
    })
    .meta({ id: "AssetVersionDetail" }),
  errors: ["ASSET_NOT_FOUND", "VERSION_NOT_FOUND"],
});

/** Beside their own refusals. */
const changeErrors = [
  "BAD_REQUEST",
  "ASSET_NOT_FOUND",
  "VERSION_NOT_FOUND",
  "TRANSITION_REFUSED",
  "EDIT_CONFLICT",
] as const;

const approveVersion = defineContract({
  id: "approveVersion",
  method: "POST",
  path: "/api/v1/assets/{asset_id}/versions/{version_ordinal}/approve",
  access: "curate",
  summary: "Approve a version and clear its asset; public clearance starts the export.",
  params: oneVersion,
  body: z.strictObject({
    clearance: z.enum(["ouo", "public"]),
    note: reason.optional(),
    actor,
  }),
  response: asset,
  errors: [...changeErrors, "VERSION_NOT_PROCESSED", "VERSION_BUSY"],
});

const rejectVersion = defineContract({
  id: "rejectVersion",
  method: "POST",
  path: "/api/v1/assets/{asset_id}/versions/{version_ordinal}/reject",
  access: "curate",
  summary: "Reject a version, with the reason.",
  params: oneVersion,
  body: z.strictObject({ reason, actor }),
  response: asset,
  errors: [...changeErrors],
});

const withdrawVersion = defineContract({
  id: "withdrawVersion",
  method: "POST",
  path: "/api/v1/assets/{asset_id}/versions/{version_ordinal}/withdraw",
  access: "curate",
  summary: "Take an approval back: the version is no longer served from this moment.",
  params: oneVersion,
  body: z.strictObject({ reason, actor }),
  response: asset,
  errors: [...changeErrors],
});

const unpublishVersion = defineContract({
  id: "unpublishVersion",
  method: "POST",
  path: "/api/v1/assets/{asset_id}/versions/{version_ordinal}/unpublish",
  access: "curate",
  summary: "Delete a version: its row stays, a job removes what was made.",
  params: oneVersion,
  body: z.strictObject({ reason: reason.optional(), actor }).default({}),
  response: asset,
  errors: [...changeErrors],
});

const unpublishAsset = defineContract({
  id: "unpublishAsset",
  method: "POST",
  path: "/api/v1/assets/{asset_id}/unpublish",
  access: "curate",
  summary: "Delete an asset with all its versions.",
  params: one,
  body: z.strictObject({ reason: reason.optional(), actor }).default({}),
  response: asset,
  errors: [...changeErrors],
});

const resubmitVersion = defineContract({
  id: "resubmitVersion",
  method: "POST",
  path: "/api/v1/assets/{asset_id}/versions/{version_ordinal}/resubmit",
  access: "operate",
  summary: "Hand in an unresolved version again, with other data if need be.",
  params: oneVersion,
  body: z
    .strictObject({
      version_label: versionLabel.optional(),
      workflow_id: z.string().min(1).max(64).optional(),
      inputs: object.optional().describe("those of the last time unless given"),
      ...requestOptions,
      actor,
    })
    .prefault({}),
  response: accepted,
  status: 202,
  also: { 200: "the request id or the idempotency key came before, and this is its request" },
  errors: [...changeErrors, "INVALID_SUBMISSION", "VERSION_BUSY", "IDEMPOTENCY_CONFLICT"],
});

const reprocessVersion = defineContract({
  id: "reprocessVersion",
  method: "POST",
  path: "/api/v1/assets/{asset_id}/versions/{version_ordinal}/reprocess",
  access: "operate",
  summary: "Process the same data again: one more revision, and no new review.",
  params: oneVersion,
  body: z
    .strictObject({
      inputs: object.optional().describe("replace some of those of the last time"),
      ...requestOptions,
      actor,
    })
    .prefault({}),
  response: accepted,
  status: 202,
  also: { 200: "the request id or the idempotency key came before, and this is its request" },
  errors: [...changeErrors, "INVALID_SUBMISSION", "VERSION_BUSY", "IDEMPOTENCY_CONFLICT"],
});

const rollbackVersion = defineContract({
  id: "rollbackVersion",
  method: "POST",
  path: "/api/v1/assets/{asset_id}/versions/{version_ordinal}/rollback",
  access: "operate",
  summary: "Serve the outputs of an earlier revision again, as a new revision.",
  params: oneVersion,
  body: z.strictObject({ to_revision: z.number().int().min(1), actor }),
  response: asset,
  errors: [...changeErrors, "REVISION_NOT_FOUND", "VERSION_BUSY"],
});

const exportVersion = defineContract({
  id: "exportVersion",
  method: "POST",
  path: "/api/v1/assets/{asset_id}/versions/{version_ordinal}/export",
  access: "operate",
  summary: "Start the export of a public version again that failed.",
  params: oneVersion,
  body: z.strictObject({ actor }).default({}),
  response: asset,
  errors: [...changeErrors],
});

const setClearance = defineContract({
  id: "setClearance",
  method: "PUT",
  path: "/api/v1/assets/{asset_id}/clearance",
  access: "curate",
  summary: "Change who may see an asset; effective at once for every version.",
  params: one,
  body: z.strictObject({ clearance: clearanceState, reason: reason.optional(), actor }),
  response: asset,
  errors: [...changeErrors],
});

const setExposure = defineContract({
  id: "setExposure",
  method: "PUT",
  path: "/api/v1/assets/{asset_id}/exposure",
  access: "curate",
  summary: "Serve only the latest approved version, or each approved one as well.",
  params: one,
  body: z.strictObject({ exposure, actor }),
  response: asset,
  errors: [...changeErrors],
});

export const assetContracts = [
  listAssets,
  getAsset,
  listAssetEvents,
  getAssetVersion,
  approveVersion,
  rejectVersion,
  withdrawVersion,
  unpublishVersion,
  unpublishAsset,
  resubmitVersion,
  reprocessVersion,
  rollbackVersion,
  exportVersion,
  setClearance,
  setExposure,
] as const;
