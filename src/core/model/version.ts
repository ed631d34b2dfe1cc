import { z } from "zod";
import type { StateMachine } from "./transitions.ts";

export const approvalState = z.enum(["pending_review", "approved", "rejected"]);
export type ApprovalState = z.infer<typeof approvalState>;

export const approvalMachine: StateMachine<ApprovalState> = {
  name: "approval",
  initial: "pending_review",
  transitions: {
    pending_review: { approved: "a curator approved", rejected: "a curator rejected" },
    approved: { pending_review: "the approval was withdrawn" },
    rejected: { approved: "a curator approved after all", pending_review: "resubmitted" },
  },
};

export const processingState = z.enum(["queued", "processing", "completed", "failed"]);
export type ProcessingState = z.infer<typeof processingState>;

export const processingMachine: StateMachine<ProcessingState> = {
  name: "processing",
  initial: "queued",
  transitions: {
    queued: {
      processing: "the first task reported",
      completed: "the job completed",
      failed: "the job failed or was cancelled",
    },
    processing: { completed: "the job completed", failed: "the job failed or was cancelled" },
    completed: { queued: "resubmitted or reprocessed" },
    failed: {
      queued: "resubmitted or reprocessed",
      completed: "an earlier revision was restored",
    },
  },
};

export const exportState = z.enum(["running", "completed", "failed", "withdrawn"]);
export type ExportState = z.infer<typeof exportState>;

/** The platform's own name of a version. The orchestrator shows it and never interprets it. */
export const versionLabel = z.string().min(1).max(128);

/** The hash of the submitted file and not of the outputs, so that the submitter can compare it. */
export const contentHash = z
  .string()
  .nullable()
  .describe("SHA-256 of the source as a multihash: 1220 and 64 hexadecimal digits");

export const sameContentAs = z
  .number()
  .int()
  .min(0)
  .nullable()
  .describe("the first version of the asset that was made from a source of the same content");

/** Where the outputs of a revision are stored. */
export const serviceOutputs = z.object({
  blob_path: z.string().nullable(),
  table_name: z.string().nullable(),
  stac_collection_id: z.string().nullable(),
  stac_item_id: z.string().nullable(),
  content_hash: contentHash,
});
export type ServiceOutputs = z.infer<typeof serviceOutputs>;
