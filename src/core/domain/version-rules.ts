import { Problem } from "../errors.ts";
import type { ApprovalState, ProcessingState } from "../model/version.ts";
import { approvalMachine } from "../model/version.ts";
import { mayBecome } from "../model/transitions.ts";

export interface ReviewedVersion {
  readonly version_ordinal: number;
  readonly approval_state: ApprovalState;
  readonly processing_state: ProcessingState;
  readonly deleted_at: string | null;
}

// Each rule returns the problem that forbids the change, or undefined if it is allowed.

export function mayApprove(version: ReviewedVersion): Problem | undefined {
  const refused = mayMove(version, "approved");
  if (refused !== undefined) return refused;
  const { processing_state, version_ordinal } = version;
  if (processing_state === "completed") return undefined;
  return processing_state === "failed"
    ? new Problem(
        "VERSION_NOT_PROCESSED",
        `The processing of version ${version_ordinal} failed: resubmit or delete it.`,
      )
    : new Problem("VERSION_BUSY", `Version ${version_ordinal} is still ${processing_state}.`);
}

export function mayReject(version: ReviewedVersion): Problem | undefined {
  return mayMove(version, "rejected");
}

export function mayWithdraw(version: ReviewedVersion): Problem | undefined {
  if (version.approval_state === "approved") return mayMove(version, "pending_review");
  return refusal(version, "only an approved version has an approval to withdraw");
}

/** Resubmitting replaces the data of a version, so it is refused once the version is approved. */
export function mayResubmit(version: ReviewedVersion): Problem | undefined {
  if (version.deleted_at !== null) return refusal(version, "it was deleted");
  if (version.approval_state === "approved") {
    return refusal(version, "it is approved: submit a new version instead");
  }
  return whileIdle(version);
}

/** Reprocessing runs the same data again and is allowed in every approval state. */
export function mayReprocess(version: ReviewedVersion): Problem | undefined {
  if (version.deleted_at !== null) return refusal(version, "it was deleted");
  return whileIdle(version);
}

export function mayDelete(version: ReviewedVersion): Problem | undefined {
  return version.deleted_at === null ? undefined : refusal(version, "it was deleted before");
}

function whileIdle({ processing_state, version_ordinal }: ReviewedVersion): Problem | undefined {
  if (processing_state === "completed" || processing_state === "failed") return undefined;
  return new Problem("VERSION_BUSY", `Version ${version_ordinal} is still ${processing_state}.`);
}

function mayMove(version: ReviewedVersion, to: ApprovalState): Problem | undefined {
  if (version.deleted_at !== null) return refusal(version, "it was deleted");
  if (mayBecome(approvalMachine, version.approval_state, to)) return undefined;
  return refusal(version, `it is ${version.approval_state} and cannot become ${to}`);
}

function refusal({ version_ordinal }: ReviewedVersion, why: string): Problem {
  return new Problem(
    "TRANSITION_REFUSED",
    `Version ${version_ordinal} cannot be changed so: ${why}.`,
  );
}

export interface KnownVersion {
  readonly version_ordinal: number;
  readonly version_label: string;
  readonly approval_state: ApprovalState;
  readonly deleted_at: string | null;
}

/**
 * Returns the ordinal of the next version, or the problem that forbids a new version: a platform
 * resolves its versions in order. Ordinals of deleted versions are not used again.
 */
export function nextVersion(versions: readonly KnownVersion[]): number | Problem {
  const open = versions.find(
    ({ approval_state, deleted_at }) => approval_state !== "approved" && deleted_at === null,
  );
  if (open !== undefined) {
    const { version_ordinal, version_label, approval_state } = open;
    return new Problem(
      "VERSION_UNRESOLVED",
      `Version ${version_ordinal} ("${version_label}") is ${words[approval_state]}. ` +
        "Approve, delete, or resubmit it before adding a new version.",
    );
  }
  return versions.reduce((next, { version_ordinal }) => Math.max(next, version_ordinal + 1), 0);
}

const words: Readonly<Record<ApprovalState, string>> = {
  pending_review: "waiting for review",
  approved: "approved",
  rejected: "rejected",
};
