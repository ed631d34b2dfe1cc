import { createHash, randomUUID } from "node:crypto";
import type { Transaction } from "../../adapters/postgres/queryable.ts";
import { readVersions } from "../../adapters/postgres/queries/asset-rows.ts";
import { findPlatform } from "../../adapters/postgres/queries/platforms.ts";
import {
  insertAsset,
  lockAsset,
  markDeleted,
  recordAssetEvent,
  touchAsset,
} from "../../adapters/postgres/repositories/assets.ts";
import type { EarlierRequest } from "../../adapters/postgres/repositories/requests.ts";
import { insertVersion } from "../../adapters/postgres/repositories/versions.ts";
import { newJobId } from "../../adapters/runtime/new-job-id.ts";
import type { Accepted, Submission } from "../../core/api/requests.ts";
import { assetIdOf } from "../../core/domain/asset-id.ts";
import type { CheckedRefs } from "../../core/domain/check-refs.ts";
import { checkRefs } from "../../core/domain/check-refs.ts";
import { nextVersion } from "../../core/domain/version-rules.ts";
import type { ProblemItem } from "../../core/errors.ts";
import { Problem } from "../../core/errors.ts";
import type { AssetEventType } from "../../core/model/asset.ts";
import type { JsonObject } from "../../core/model/json.ts";
import type { Platform } from "../../core/model/platform.ts";
import type { AuditContext } from "../audit-context.ts";
import { assetMissing } from "./change-asset.ts";
import { checkWork } from "./check-submission.ts";
import type { AssetDeps } from "./deps.ts";
import { answerEarlier, findEarlier, hashBody, retryOnTakenKey } from "./earlier-request.ts";
import { processVersion } from "./process-version.ts";

/** Writes request, asset, version and job in one transaction; with any finding it writes nothing. */
export async function submitAsset(
  deps: AssetDeps,
  submission: Submission,
  audit: AuditContext,
): Promise<Accepted> {
  const platform = await requirePlatform(deps, submission.platform_id);
  const refs = checkRefs(platform, submission.platform_refs);
  const label = submission.version_label ?? refs.label;
  const body_hash = hashBody({
    kind: "submit",
    platform_id: platform.platform_id,
    refs: refs.identity,
    label: label ?? null,
    workflow_id: submission.workflow_id,
    inputs: submission.inputs,
  });
  const find = (db: Pick<Transaction, "query">) =>
    findEarlier(db, platform.platform_id, submission, body_hash);
  // The check and the search for an earlier request run at once. A repeated request is answered like
  // the first, even if its blob is gone by now: so the findings are awaited after that search.
  const work = checkWork(deps, platform, submission);
  work.catch(() => undefined);
  const earlier = await find(deps.db);
  if (earlier !== undefined) return answerEarlier(earlier);
  const findings = [...refs.findings, ...checkLabel(platform, submission, refs), ...(await work)];
  if (findings.length > 0 || label === undefined) {
    throw new Problem("INVALID_SUBMISSION", "Nothing was created: see each error.", findings);
  }
  const asset_id = assetIdOf(platform.platform_id, refs.identity, sha256);
  return retryOnTakenKey(deps.db, find, () =>
    deps.mutex(asset_id, () =>
      write(deps, {
        submission,
        audit,
        platform,
        identity: refs.identity,
        asset_id,
        label,
        body_hash,
        find,
      }),
    ),
  );
}

interface CheckedSubmission {
  readonly submission: Submission;
  readonly audit: AuditContext;
  readonly platform: Platform;
  readonly identity: JsonObject;
  readonly asset_id: string;
  readonly label: string;
  readonly body_hash: string;
  readonly find: (db: Pick<Transaction, "query">) => Promise<EarlierRequest | undefined>;
}

async function write(deps: AssetDeps, checked: CheckedSubmission): Promise<Accepted> {
  const { submission, audit, platform, asset_id, label } = checked;
  return deps.db.transaction(async (tx) => {
    // Sent in one round trip and executed in this order, so the last two run under the lock.
    const [created, asset, earlier, versions] = await Promise.all([
      insertAsset(tx, {
        asset_id,
        platform_id: platform.platform_id,
        platform_refs: checked.identity,
        exposure: submission.exposure ?? "latest-only",
      }),
      lockAsset(tx, asset_id),
      // The same request may have come twice at once: then the second waited for the lock.
      checked.find(tx),
      readVersions(tx, asset_id),
    ]);
    if (asset === undefined) throw assetMissing(asset_id);
    if (earlier !== undefined) return answerEarlier(earlier);
    const version_ordinal = nextVersion(versions);
    if (version_ordinal instanceof Problem) throw version_ordinal;
    const record = (event_type: AssetEventType, ordinal?: number, event_data?: JsonObject) => {
      const { actor, via } = audit;
      const event = { asset_id, version_ordinal: ordinal, event_type, actor, via, event_data };
      recordAssetEvent(tx, event);
    };
    if (created) record("asset_created");
    else if (asset.deleted_at !== null) {
      markDeleted(tx, asset_id, undefined);
      record("asset_restored");
    }
    const request_id = submission.request_id ?? randomUUID();
    const job_id = newJobId();
    const { workflow_id } = submission;
    const key = { asset_id, version_ordinal, revision: 1, request_id };
    insertVersion(tx, { ...key, workflow_id, job_id, created_by: audit.actor }, label);
    record("version_submitted", version_ordinal, { version_label: label, request_id });
    const accepted = await processVersion(deps, { tx }, platform, {
      ...key,
      job_id,
      label,
      kind: "submit",
      workflow_id,
      inputs: submission.inputs,
      options: submission,
      identity: checked.identity,
      body_hash: checked.body_hash,
      audit,
    });
    touchAsset(tx, asset_id);
    return accepted;
  });
}

async function requirePlatform(deps: AssetDeps, platformId: string): Promise<Platform> {
  const platform = await findPlatform(deps.db, platformId);
  if (platform === undefined) {
    throw new Problem("PLATFORM_NOT_FOUND", `There is no platform "${platformId}".`);
  }
  if (platform.is_active) return platform;
  throw new Problem("PLATFORM_INACTIVE", `The platform "${platformId}" is switched off.`);
}

function checkLabel(
  { version_ref }: Platform,
  { version_label }: Submission,
  { label }: CheckedRefs,
): ProblemItem[] {
  const pointer = "/version_label";
  if (version_label === undefined && label === undefined) {
    const or = version_ref === null ? "" : `, here or as the reference ${version_ref}`;
    return [{ pointer, code: "LABEL_MISSING", message: `name the version${or}` }];
  }
  if (version_label === undefined || label === undefined || version_label === label) return [];
  const message = `is not the version that the reference ${version_ref ?? ""} names`;
  return [{ pointer, code: "LABEL_CONFLICT", message }];
}

function sha256(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex");
}
