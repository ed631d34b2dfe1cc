import { z } from "zod";
import { assetEventType, clearanceState, exposure } from "../model/asset.ts";
import { requestKind, requestStatus } from "../model/request.ts";
import {
  approvalState,
  exportState,
  processingState,
  sameContentAs,
  serviceOutputs,
} from "../model/version.ts";
import { layerStyle } from "../serving/style.ts";
import { count, object, timestamp } from "./schemas.ts";

export const assetVersion = z
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
    current_job_id: z.string().nullable(),
    revision: z.number().int(),
    served_revision: z.number().int().nullable(),
    ...serviceOutputs.shape,
    same_content_as: sameContentAs,
    style: layerStyle
      .nullable()
      .describe("of its own, until it is approved; null: that of the asset"),
    export_state: exportState.nullable(),
    export_job_id: z.string().nullable(),
    external_blob_path: z.string().nullable(),
    adf_run_id: z.string().nullable(),
    deleted_at: timestamp.nullable(),
    deleted_by: z.string().nullable(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "AssetVersion" });
export type AssetVersion = z.infer<typeof assetVersion>;

export const assetSummary = z
  .object({
    asset_id: z.string(),
    platform_id: z.string(),
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
    deleted_by: z.string().nullable(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "AssetSummary" });
export type AssetSummary = z.infer<typeof assetSummary>;

/** A list shows the newest version, because that version may wait for a review. */
export const assetListed = z
  .object({
    ...assetSummary.shape,
    display_name: z.string().nullable(),
    newest_version: assetVersion.nullable(),
    review_ordinal: count.nullable().describe("the newest version that waits for a review"),
  })
  .meta({ id: "AssetListed" });
export type AssetListed = z.infer<typeof assetListed>;

export const serviceUrls = z
  .object({
    version: z.string().describe("latest, or the ordinal"),
    layer_type: z.enum(["raster", "vector"]),
    tiles: z.string(),
    tilejson: z.string(),
    map: z.string(),
    features: z.string().nullable(),
    stac_item: z.string().nullable(),
  })
  .meta({ id: "ServiceUrls", description: "relative to this server" });
export type ServiceUrls = z.infer<typeof serviceUrls>;

export const asset = z
  .object({
    ...assetSummary.shape,
    display_name: z.string().nullable(),
    versions: z.array(assetVersion),
    services: z.array(serviceUrls).describe("the addresses that are served now"),
    previews: z.array(serviceUrls).describe("for curators: the addresses of previews"),
  })
  .meta({ id: "Asset" });
export type Asset = z.infer<typeof asset>;

export const assetRevision = z
  .object({
    revision: z.number().int(),
    request_id: z.string(),
    workflow_id: z.string(),
    job_id: z.string().nullable(),
    restored_from: z.number().int().nullable(),
    processing_state: processingState,
    processing_error: z.string().nullable(),
    ...serviceOutputs.shape,
    created_by: z.string(),
    created_at: timestamp,
    completed_at: timestamp.nullable(),
  })
  .meta({ id: "AssetRevision" });
export type AssetRevision = z.infer<typeof assetRevision>;

export const assetEvent = z
  .object({
    event_id: z.number().int(),
    asset_id: z.string(),
    version_ordinal: count.nullable(),
    event_type: assetEventType,
    actor: z.string(),
    via: z.string().describe("whose token it was"),
    event_data: object.nullable(),
    created_at: timestamp,
  })
  .meta({ id: "AssetEvent" });
export type AssetEvent = z.infer<typeof assetEvent>;

export const platformRequest = z
  .object({
    request_id: z.string(),
    platform_id: z.string(),
    kind: requestKind,
    workflow_id: z.string(),
    asset_id: z.string(),
    version_ordinal: count,
    version_label: z.string(),
    revision: z.number().int(),
    inputs: object,
    submitted_by: z.string(),
    idempotency_key: z.string().nullable(),
    callback_url: z.string().nullable(),
    priority: z.number().int(),
    job_id: z.string().describe("internal: the gateway leaves it out"),
    status: requestStatus,
    percent: z.number().min(0).max(100),
    result: object.nullable(),
    error: z.object({ code: z.string().nullable(), message: z.string() }).nullable(),
    submitted_at: timestamp,
    completed_at: timestamp.nullable(),
  })
  .meta({ id: "PlatformRequest" });
export type PlatformRequest = z.infer<typeof platformRequest>;
