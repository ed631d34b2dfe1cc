/** A version gets one more revision by resubmitting, reprocessing or rolling back. */
import { randomUUID } from "node:crypto";
import {
  findAsset,
  readRevisions,
  readVersions,
} from "../../adapters/postgres/queries/asset-rows.ts";
import { findPlatform } from "../../adapters/postgres/queries/platforms.ts";
import { readRequestInputs } from "../../adapters/postgres/queries/requests.ts";
import type { Queryable } from "../../adapters/postgres/queryable.ts";
import { publishRevision } from "../../adapters/postgres/repositories/catalogue-revisions.ts";
import {
  restartVersion,
  restoreRevision,
  withdrawApproval,
} from "../../adapters/postgres/repositories/versions.ts";
import { newJobId } from "../../adapters/runtime/new-job-id.ts";
import type { Accepted } from "../../core/api/requests.ts";
import { mayReprocess, mayResubmit } from "../../core/domain/version-rules.ts";
import { Problem } from "../../core/errors.ts";
import type { Json, JsonObject } from "../../core/model/json.ts";
import { dots } from "../../core/model/mask.ts";
import type { AuditContext } from "../audit-context.ts";
import { assetMissing, changeAsset, throwRefusal, versionOf } from "./change-asset.ts";
import { checkWork } from "./check-submission.ts";
import type { AssetDeps } from "./deps.ts";
import { answerEarlier, findEarlier, hashBody, retryOnTakenKey } from "./earlier-request.ts";
import { processVersion } from "./process-version.ts";

export interface NewRevision {
  /** `resubmit`: other data, and a new review. `reprocess`: the same data, and the review stays. */
  readonly kind: "resubmit" | "reprocess";
  readonly version_label?: string | undefined;
  readonly workflow_id?: string | undefined;
  readonly inputs?: JsonObject | undefined;
  readonly request_id?: string | undefined;
  readonly submitted_by?: string | undefined;
  readonly callback_url?: string | undefined;
  readonly idempotency_key?: string | undefined;
  readonly priority: number;
}

/** Starts a job that makes the next revision from new data (`resubmit`) or the same (`reprocess`). */
export async function processAgain(
  deps: AssetDeps,
  assetId: string,
  ordinal: number,
  wanted: NewRevision,
  audit: AuditContext,
): Promise<Accepted> {
  const asset = await findAsset(deps.db, assetId);
  if (asset === undefined) throw assetMissing(assetId);
  const before = versionOf(await readVersions(deps.db, assetId), ordinal);
  const platform = await findPlatform(deps.db, asset.platform_id);
  if (platform === undefined) throw assetMissing(assetId);
  const workflow_id = wanted.workflow_id ?? before.workflow_id;
  const kept = (await readRequestInputs(deps.db, before.request_id)) ?? {};
  const given = wanted.inputs && withSecrets(wanted.inputs, kept);
  const inputs = wanted.kind === "reprocess" ? { ...kept, ...given } : (given ?? kept);
  const body_hash = hashBody({
    kind: wanted.kind,
    assetId,
    ordinal,
    workflow_id,
    inputs,
    label: wanted.version_label ?? null,
  });
  const find = (db: Queryable) => findEarlier(db, asset.platform_id, wanted, body_hash);
  const earlier = await find(deps.db);
  if (earlier !== undefined) return answerEarlier(earlier);
  const { callback_url } = wanted;
  const findings = await checkWork(deps, platform, { workflow_id, inputs, callback_url });
  if (findings.length > 0) {
    throw new Problem("INVALID_SUBMISSION", "Nothing was created: see each error.", findings);
  }
  const mayRun = wanted.kind === "resubmit" ? mayResubmit : mayReprocess;
  return retryOnTakenKey(deps.db, find, async () => {
    let answer: Accepted | undefined;
    await changeAsset(deps, assetId, audit, async (locked) => {
      const version = versionOf(locked.versions, ordinal);
      throwRefusal(mayRun(version));
      const request_id = wanted.request_id ?? randomUUID();
      const job_id = newJobId();
      const revision = version.revision + 1;
      const key = { asset_id: assetId, version_ordinal: ordinal, revision, request_id };
      restartVersion(
        locked.tx,
        { ...key, workflow_id, job_id, created_by: audit.actor },
        { review: wanted.kind === "resubmit", label: wanted.version_label },
      );
      const type = wanted.kind === "resubmit" ? "version_resubmitted" : "version_reprocessed";
      locked.record(type, ordinal, { revision, request_id });
      answer = await processVersion(deps, locked, platform, {
        ...key,
        job_id,
        label: wanted.version_label ?? version.version_label,
        kind: wanted.kind,
        workflow_id,
        inputs,
        options: wanted,
        identity: asset.platform_refs,
        body_hash,
        audit,
      });
    });
    if (answer === undefined) throw new Error("the change ended without an answer");
    return answer;
  });
}

/** Serves an old revision again by copying it to a new one: history only grows. */
export function rollbackVersion(
  deps: AssetDeps,
  assetId: string,
  ordinal: number,
  toRevision: number,
  audit: AuditContext,
): Promise<void> {
  return changeAsset(deps, assetId, audit, async ({ tx, versions, record }) => {
    const version = versionOf(versions, ordinal);
    throwRefusal(mayReprocess(version));
    const revisions = await readRevisions(tx, assetId, ordinal);
    const target = revisions.find(({ revision }) => revision === toRevision);
    if (target === undefined) {
      throw new Problem("REVISION_NOT_FOUND", `Version ${ordinal} has no revision ${toRevision}.`);
    }
    if (target.processing_state !== "completed") {
      const why = `revision ${toRevision} is ${target.processing_state} and has no outputs`;
      throw new Problem("TRANSITION_REFUSED", `Version ${ordinal} cannot go back: ${why}.`);
    }
    const next = version.revision + 1;
    const items = await restoreRevision(tx, version, toRevision, next, audit.actor);
    // Of a revision that is older than this rule no items are kept: then those that are shown stay.
    if (items > 0 || target.stac_item_id === null) {
      await publishRevision(tx, { ...version, revision: next });
    }
    const { content_hash } = target;
    const isReviewed = content_hash !== null && content_hash === version.content_hash;
    if (version.approval_state === "approved" && !isReviewed) {
      withdrawApproval(tx, version);
      const reason = `the source of revision ${toRevision} is not known to be the approved one`;
      record("version_withdrawn", ordinal, { reason });
    }
    record("version_restored", ordinal, { from_revision: toRevision, revision: next });
  });
}

/** Dots in place of an input leave it as it was: a client sends back what it was shown. */
function withSecrets(given: JsonObject, kept: JsonObject): JsonObject {
  const entries = Object.entries(given).map(([name, value]): [string, Json] => [
    name,
    value === dots ? (kept[name] ?? value) : value,
  ]);
  return Object.fromEntries(entries);
}
