import { z } from "zod";
import type { StateMachine } from "./transitions.ts";

/** The clearance of the whole data set: all its versions share it. */
export const clearanceState = z.enum(["uncleared", "ouo", "public"]);
export type ClearanceState = z.infer<typeof clearanceState>;

export const clearanceMachine: StateMachine<ClearanceState> = {
  name: "clearance",
  initial: "uncleared",
  transitions: {
    uncleared: { ouo: "cleared for official use only", public: "cleared for the public" },
    ouo: { public: "made public", uncleared: "clearance withdrawn" },
    public: { ouo: "no longer public", uncleared: "clearance withdrawn" },
  },
};

/** Which versions have addresses of their own. */
export const exposure = z.enum(["latest-only", "all-versions"]);
export type Exposure = z.infer<typeof exposure>;

export const assetId = z.string().regex(/^[0-9a-f]{32}$/, "must be 32 hex digits");

export const assetEventType = z.enum([
  "asset_created",
  "asset_restored",
  "asset_deleted",
  "clearance_changed",
  "exposure_changed",
  "version_submitted",
  "version_resubmitted",
  "version_reprocessed",
  "version_restored",
  "version_approved",
  "version_rejected",
  "version_withdrawn",
  "version_deleted",
  "processing_started",
  "processing_completed",
  "processing_failed",
  "export_started",
  "export_completed",
  "export_failed",
  "export_withdrawn",
  "unpublish_started",
  "unpublish_completed",
  "unpublish_failed",
  "metadata_changed",
  "metadata_deleted",
  "metadata_published",
  "metadata_unpublished",
]);
export type AssetEventType = z.infer<typeof assetEventType>;
