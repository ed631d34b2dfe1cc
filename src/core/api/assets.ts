import { z } from "zod";
import { assetEventType } from "../model/asset.ts";
import { platformId } from "../model/platform.ts";
import { processingState } from "../model/version.ts";
import {
  againErrors,
  approveErrors,
  assetFilter,
  changeErrors,
  decisionBodies,
  oneAsset,
  oneVersion,
  ordinal,
  reprocessed,
  resubmitted,
  rollbackErrors,
} from "./asset-parts.ts";
import {
  asset,
  assetEvent,
  assetListed,
  assetRevision,
  assetVersion,
  platformRequest,
} from "./asset-schemas.ts";
import { defineContract, inputsBodyLimit } from "./contract.ts";
import { accepted, actor, requestOptions } from "./requests.ts";
import { page, paging } from "./schemas.ts";

const listAssets = defineContract({
  id: "listAssets",
  method: "GET",
  path: "/api/v1/assets",
  access: "read",
  summary: "Assets, the last changed first, each with its newest version.",
  query: z.strictObject({
    platform_id: platformId.optional(),
    ...assetFilter,
    processing_state: processingState.optional().describe("of any version"),
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
  params: oneAsset,
  response: asset,
  errors: ["ASSET_NOT_FOUND"],
});

const listAssetEvents = defineContract({
  id: "listAssetEvents",
  method: "GET",
  path: "/api/v1/assets/{asset_id}/events",
  access: "read",
  summary: "The history of an asset: every change with its author, the oldest first.",
  params: oneAsset,
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

const decide = decisionBodies(actor);
const changed = { response: asset, errors: changeErrors } as const;

const approveVersion = defineContract({
  id: "approveVersion",
  method: "POST",
  path: "/api/v1/assets/{asset_id}/versions/{version_ordinal}/approve",
  access: "curate",
  summary: "Approve a version and clear its asset; public clearance starts the export.",
  params: oneVersion,
  body: decide.approve,
  response: asset,
  errors: [...changeErrors, ...approveErrors],
});

const rejectVersion = defineContract({
  id: "rejectVersion",
  method: "POST",
  path: "/api/v1/assets/{asset_id}/versions/{version_ordinal}/reject",
  access: "curate",
  summary: "Reject a version, with the reason.",
  params: oneVersion,
  body: decide.withReason,
  ...changed,
});

const withdrawVersion = defineContract({
  id: "withdrawVersion",
  method: "POST",
  path: "/api/v1/assets/{asset_id}/versions/{version_ordinal}/withdraw",
  access: "curate",
  summary: "Withdraw an approval: the version is no longer served.",
  params: oneVersion,
  body: decide.withReason,
  ...changed,
});

const unpublishVersion = defineContract({
  id: "unpublishVersion",
  method: "POST",
  path: "/api/v1/assets/{asset_id}/versions/{version_ordinal}/unpublish",
  access: "curate",
  summary: "Delete a version: its row stays, and a job removes its outputs.",
  params: oneVersion,
  body: decide.unpublish,
  ...changed,
});

const unpublishAsset = defineContract({
  id: "unpublishAsset",
  method: "POST",
  path: "/api/v1/assets/{asset_id}/unpublish",
  access: "curate",
  summary: "Delete an asset with all its versions.",
  params: oneAsset,
  body: decide.unpublish,
  ...changed,
});

const again = {
  response: accepted,
  status: 202,
  also: { 200: "the request id or the idempotency key came before, and this is its request" },
  errors: [...changeErrors, ...againErrors],
} as const;

const resubmitVersion = defineContract({
  id: "resubmitVersion",
  method: "POST",
  path: "/api/v1/assets/{asset_id}/versions/{version_ordinal}/resubmit",
  access: "operate",
  summary: "Submit an unresolved version again, with other data if necessary.",
  params: oneVersion,
  bodyLimit: inputsBodyLimit,
  body: z.strictObject({ ...resubmitted, ...requestOptions, actor }).prefault({}),
  ...again,
});

const reprocessVersion = defineContract({
  id: "reprocessVersion",
  method: "POST",
  path: "/api/v1/assets/{asset_id}/versions/{version_ordinal}/reprocess",
  access: "operate",
  summary: "Process the same data again: one more revision, and no new review.",
  params: oneVersion,
  bodyLimit: inputsBodyLimit,
  body: z.strictObject({ ...reprocessed, ...requestOptions, actor }).prefault({}),
  ...again,
});

const rollbackVersion = defineContract({
  id: "rollbackVersion",
  method: "POST",
  path: "/api/v1/assets/{asset_id}/versions/{version_ordinal}/rollback",
  access: "operate",
  summary: "Serve the outputs of an earlier revision again, as a new revision.",
  params: oneVersion,
  body: decide.rollback,
  response: asset,
  errors: [...changeErrors, ...rollbackErrors],
});

const exportVersion = defineContract({
  id: "exportVersion",
  method: "POST",
  path: "/api/v1/assets/{asset_id}/versions/{version_ordinal}/export",
  access: "operate",
  summary: "Start the export of a public version again that failed.",
  params: oneVersion,
  body: z.strictObject({ actor }).default({}),
  ...changed,
});

const setClearance = defineContract({
  id: "setClearance",
  method: "PUT",
  path: "/api/v1/assets/{asset_id}/clearance",
  access: "curate",
  summary: "Change who may see an asset; effective at once for every version.",
  params: oneAsset,
  body: decide.clearance,
  ...changed,
});

const setExposure = defineContract({
  id: "setExposure",
  method: "PUT",
  path: "/api/v1/assets/{asset_id}/exposure",
  access: "curate",
  summary: "Serve only the latest approved version, or each approved one as well.",
  params: oneAsset,
  body: decide.exposure,
  ...changed,
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
