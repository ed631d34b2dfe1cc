import type { ApprovalState } from "../model/version.ts";
import { Problem } from "../errors.ts";

export interface KnownVersion {
  readonly version_ordinal: number;
  readonly version_label: string;
  readonly approval_state: ApprovalState;
  readonly deleted_at: string | null;
}

/**
 * The next ordinal, or why there may be none yet: a platform curates its versions in order.
 * Ordinals of deleted versions are never given again.
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
