import { z } from "zod";
import {
  againErrors,
  approveErrors,
  assetFilter,
  changeErrors as sharedErrors,
  decisionBodies,
  oneAsset,
  oneVersion,
  reprocessed,
  resubmitted,
  rollbackErrors,
} from "../asset-parts.ts";
import { serviceUrls } from "../asset-schemas.ts";
import { defineContract, partnerBodyLimit } from "../contract.ts";
import { page, paging } from "../schemas.ts";
import {
  partnerAccepted,
  partnerAsset,
  partnerAssetDetail,
  partnerEvent,
  partnerRevision,
  partnerVersion,
} from "./partner-schemas.ts";
import { partnerOptions } from "./platform.ts";

const actor = z
  .string()
  .min(1)
  .max(48)
  .optional()
  .describe("the person at your platform who decides");
const decide = decisionBodies(actor);

const assetsList = defineContract({
  id: "assetsList",
  method: "GET",
  path: "/api/assets",
  access: "read",
  summary: "Your assets, the last changed first.",
  query: z.strictObject({ ...assetFilter, ...paging }),
  response: page(partnerAsset),
  errors: ["BAD_REQUEST"],
});

const assetsGet = defineContract({
  id: "assetsGet",
  method: "GET",
  path: "/api/assets/{asset_id}",
  access: "read",
  summary: "One of your assets with its versions.",
  params: oneAsset,
  response: partnerAssetDetail,
  errors: ["ASSET_NOT_FOUND"],
});

const services = z.array(serviceUrls);

const assetsServices = defineContract({
  id: "assetsServices",
  method: "GET",
  path: "/api/assets/{asset_id}/services",
  access: "read",
  summary:
    "The addresses at which an asset is served now, from its current approval, clearance and exposure.",
  params: oneAsset,
  response: z.object({ services, previews: services }).meta({ id: "PartnerServices" }),
  errors: ["ASSET_NOT_FOUND", "UNAVAILABLE"],
});

const assetsEvents = defineContract({
  id: "assetsEvents",
  method: "GET",
  path: "/api/assets/{asset_id}/events",
  access: "read",
  summary: "The history of an asset: every change with its author, the oldest first.",
  params: oneAsset,
  query: z.strictObject({ ...paging }),
  response: page(partnerEvent),
  errors: ["BAD_REQUEST", "ASSET_NOT_FOUND"],
});

const assetsVersion = defineContract({
  id: "assetsVersion",
  method: "GET",
  path: "/api/assets/{asset_id}/versions/{version_ordinal}",
  access: "read",
  summary: "One version with every revision.",
  params: oneVersion,
  response: z
    .object({ ...partnerVersion.shape, revisions: z.array(partnerRevision) })
    .meta({ id: "PartnerVersionDetail" }),
  errors: ["BAD_REQUEST", "ASSET_NOT_FOUND", "VERSION_NOT_FOUND"],
});

/** The orchestrator makes every change and may be unreachable. */
const changeErrors = [...sharedErrors, "UNAVAILABLE"] as const;
const changed = { response: partnerAssetDetail, errors: changeErrors } as const;

const assetsApprove = defineContract({
  id: "assetsApprove",
  method: "POST",
  path: "/api/assets/{asset_id}/versions/{version_ordinal}/approve",
  access: "curate",
  summary: "Approve a version and clear its asset; public clearance starts the export.",
  params: oneVersion,
  body: decide.approve,
  response: partnerAssetDetail,
  errors: [...changeErrors, ...approveErrors],
});

const assetsReject = defineContract({
  id: "assetsReject",
  method: "POST",
  path: "/api/assets/{asset_id}/versions/{version_ordinal}/reject",
  access: "curate",
  summary: "Reject a version, with the reason.",
  params: oneVersion,
  body: decide.withReason,
  ...changed,
});

const assetsWithdraw = defineContract({
  id: "assetsWithdraw",
  method: "POST",
  path: "/api/assets/{asset_id}/versions/{version_ordinal}/withdraw",
  access: "curate",
  summary: "Withdraw an approval: the version is no longer served.",
  params: oneVersion,
  body: decide.withReason,
  ...changed,
});

const assetsUnpublishVersion = defineContract({
  id: "assetsUnpublishVersion",
  method: "POST",
  path: "/api/assets/{asset_id}/versions/{version_ordinal}/unpublish",
  access: "curate",
  summary: "Delete a version; its outputs are removed.",
  params: oneVersion,
  body: decide.unpublish,
  ...changed,
});

const assetsUnpublish = defineContract({
  id: "assetsUnpublish",
  method: "POST",
  path: "/api/assets/{asset_id}/unpublish",
  access: "curate",
  summary: "Delete an asset with all its versions.",
  params: oneAsset,
  body: decide.unpublish,
  ...changed,
});

const assetsRollback = defineContract({
  id: "assetsRollback",
  method: "POST",
  path: "/api/assets/{asset_id}/versions/{version_ordinal}/rollback",
  access: "curate",
  summary: "Serve the outputs of an earlier revision again, as a new revision.",
  params: oneVersion,
  body: decide.rollback,
  response: partnerAssetDetail,
  errors: [...changeErrors, ...rollbackErrors],
});

const assetsClearance = defineContract({
  id: "assetsClearance",
  method: "PUT",
  path: "/api/assets/{asset_id}/clearance",
  access: "curate",
  summary: "Change who may see an asset; effective at once for every version.",
  params: oneAsset,
  body: decide.clearance,
  ...changed,
});

const assetsExposure = defineContract({
  id: "assetsExposure",
  method: "PUT",
  path: "/api/assets/{asset_id}/exposure",
  access: "curate",
  summary: "Serve only the latest approved version, or each approved one as well.",
  params: oneAsset,
  body: decide.exposure,
  ...changed,
});

const again = {
  response: partnerAccepted,
  status: 202,
  also: { 200: "the idempotency key came before, and this is its request" },
  errors: [...changeErrors, ...againErrors],
} as const;

const assetsResubmit = defineContract({
  id: "assetsResubmit",
  method: "POST",
  path: "/api/assets/{asset_id}/versions/{version_ordinal}/resubmit",
  access: "submit",
  summary: "Submit an unresolved version again, with other data if necessary.",
  params: oneVersion,
  bodyLimit: partnerBodyLimit,
  body: z.strictObject({ ...resubmitted, ...partnerOptions }).prefault({}),
  ...again,
});

const assetsReprocess = defineContract({
  id: "assetsReprocess",
  method: "POST",
  path: "/api/assets/{asset_id}/versions/{version_ordinal}/reprocess",
  access: "submit",
  summary: "Process the same data again: one more revision, and no new review.",
  params: oneVersion,
  bodyLimit: partnerBodyLimit,
  body: z.strictObject({ ...reprocessed, ...partnerOptions }).prefault({}),
  ...again,
});

export const partnerAssetContracts = [
  assetsList,
  assetsGet,
  assetsServices,
  assetsEvents,
  assetsVersion,
  assetsApprove,
  assetsReject,
  assetsWithdraw,
  assetsUnpublishVersion,
  assetsUnpublish,
  assetsRollback,
  assetsClearance,
  assetsExposure,
  assetsResubmit,
  assetsReprocess,
] as const;
