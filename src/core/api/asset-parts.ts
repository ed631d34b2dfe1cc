/**
 * The requests that the orchestrator's asset routes and the partners' routes have in common.
 * Answers are not shared, so that a field added for us does not appear to partners.
 */
import { z } from "zod";
import { assetId, clearanceState, exposure } from "../model/asset.ts";
import { approvalState, versionLabel } from "../model/version.ts";
import { integer, object } from "./schemas.ts";

export const ordinal = integer(0, 2_147_483_647);
export const oneAsset = z.object({ asset_id: assetId });
export const oneVersion = z.object({ asset_id: assetId, version_ordinal: ordinal });

export const assetFilter = {
  refs: z
    .string()
    .max(2048)
    .optional()
    .describe('references that the asset must have, as JSON: {"dataset_id":"a"}'),
  clearance_state: clearanceState.optional(),
  approval_state: approvalState.optional().describe("of any version"),
  deleted: z.enum(["true", "false"]).default("false"),
};

const reason = z.string().min(1).max(2000);

/**
 * The bodies of decisions about an asset or a version. Each API says in its own way who decides.
 */
export function decisionBodies(actor: z.ZodOptional<z.ZodString>) {
  return {
    approve: z.strictObject({
      clearance: z.enum(["ouo", "public"]),
      note: reason.optional(),
      actor,
    }),
    withReason: z.strictObject({ reason, actor }),
    unpublish: z.strictObject({ reason: reason.optional(), actor }).default({}),
    rollback: z.strictObject({ to_revision: z.number().int().min(1), actor }),
    clearance: z.strictObject({ clearance: clearanceState, reason: reason.optional(), actor }),
    exposure: z.strictObject({ exposure, actor }),
  };
}

/** The inputs and workflow of a version that is submitted again. */
export const resubmitted = {
  version_label: versionLabel.optional(),
  workflow_id: z.string().min(1).max(64).optional(),
  inputs: object.optional().describe("default: the inputs of the last run"),
};

export const reprocessed = {
  inputs: object.optional().describe("replace some of the inputs of the last run"),
};

/** The errors of every change, besides those of its own rules. */
export const changeErrors = [
  "BAD_REQUEST",
  "ASSET_NOT_FOUND",
  "VERSION_NOT_FOUND",
  "TRANSITION_REFUSED",
  "EDIT_CONFLICT",
] as const;

export const approveErrors = ["VERSION_NOT_PROCESSED", "VERSION_BUSY"] as const;
export const rollbackErrors = ["REVISION_NOT_FOUND", "VERSION_BUSY"] as const;
export const againErrors = ["INVALID_SUBMISSION", "VERSION_BUSY", "IDEMPOTENCY_CONFLICT"] as const;
