/**
 * The schemas of answers to partners. They are written out and not derived from the orchestrator's,
 * so that a field that is added there, such as the id of a job, does not appear here.
 */
import { z } from "zod";
import { assetEventType, clearanceState, exposure } from "../../model/asset.ts";
import { requestKind, requestStatus } from "../../model/request.ts";
import {
  approvalState,
  contentHash,
  exportState,
  processingState,
  sameContentAs,
} from "../../model/version.ts";
import { count, object, timestamp } from "../schemas.ts";

const revision = z.number().int();

export const partnerRequest = z
  .object({
    request_id: z.string(),
    kind: requestKind,
    workflow_id: z.string(),
    asset_id: z.string(),
    version_ordinal: count,
    version_label: z.string(),
    revision,
    submitted_by: z.string(),
    status: requestStatus,
    percent: z.number().min(0).max(100),
    result: object.nullable(),
    error: object.nullable(),
    submitted_at: timestamp,
    completed_at: timestamp.nullable(),
  })
  .meta({ id: "PartnerRequest" });

export const partnerAccepted = z
  .object({
    request_id: z.string(),
    status: z.literal("accepted"),
    workflow_id: z.string(),
    asset_id: z.string(),
    version_ordinal: count,
    version_label: z.string(),
    revision,
    submitted_at: timestamp,
    status_url: z.string(),
  })
  .meta({ id: "PartnerAccepted" });

export const partnerVersion = z
  .object({
    asset_id: z.string(),
    version_ordinal: count,
    version_label: z.string(),
    approval_state: approvalState,
    reviewer: z.string().nullable(),
    reviewed_at: timestamp.nullable(),
    rejection_reason: z.string().nullable(),
    withdrawn_at: timestamp.nullable(),
    processing_state: processingState,
    processing_error: z.string().nullable(),
    request_id: z.string(),
    workflow_id: z.string(),
    revision,
    served_revision: revision.nullable(),
    content_hash: contentHash,
    same_content_as: sameContentAs,
    stac_collection_id: z.string().nullable(),
    stac_item_id: z.string().nullable(),
    export_state: exportState.nullable(),
    external_blob_path: z.string().nullable(),
    deleted_at: timestamp.nullable(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "PartnerVersion" });

export const partnerAsset = z
  .object({
    asset_id: z.string(),
    platform_refs: object,
    clearance_state: clearanceState,
    cleared_at: timestamp.nullable(),
    cleared_by: z.string().nullable(),
    made_public_at: timestamp.nullable(),
    made_public_by: z.string().nullable(),
    exposure,
    latest_approved_version_ordinal: count.nullable(),
    row_version: z.number().int().describe("the ETag; send it back in If-Match"),
    deleted_at: timestamp.nullable(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "PartnerAsset" });

export const partnerAssetDetail = z
  .object({ ...partnerAsset.shape, versions: z.array(partnerVersion) })
  .meta({ id: "PartnerAssetDetail" });

export const partnerRevision = z
  .object({
    revision,
    request_id: z.string(),
    workflow_id: z.string(),
    restored_from: revision.nullable(),
    processing_state: processingState,
    processing_error: z.string().nullable(),
    content_hash: contentHash,
    created_by: z.string(),
    created_at: timestamp,
    completed_at: timestamp.nullable(),
  })
  .meta({ id: "PartnerRevision" });

export const partnerEvent = z
  .object({
    event_id: z.number().int(),
    version_ordinal: count.nullable(),
    event_type: assetEventType,
    actor: z.string(),
    created_at: timestamp,
  })
  .meta({ id: "PartnerEvent" });
