import { randomUUID } from "node:crypto";
import { findAsset } from "../../adapters/postgres/queries/asset-rows.ts";
import { findPlatform } from "../../adapters/postgres/queries/platforms.ts";
import { findRequest } from "../../adapters/postgres/queries/requests.ts";
import type { Queryable } from "../../adapters/postgres/queryable.ts";
import { restartVersion } from "../../adapters/postgres/repositories/versions.ts";
import type { Accepted } from "../../core/api/requests.ts";
import { mayReprocess, mayResubmit } from "../../core/domain/version-rules.ts";
import { Problem } from "../../core/errors.ts";
import type { JsonObject } from "../../core/model/json.ts";
import { newJobId } from "../jobs/submit-jobs.ts";
import { assetMissing, changeAsset, demand, versionOf } from "./change-asset.ts";
import { checkWork } from "./check-submission.ts";
import type { Act, DomainDeps } from "./deps.ts";
import { answerEarlier, findAnswered, retryOnTakenKey } from "./earlier-request.ts";
import { hashBody } from "./hash-body.ts";
import { processVersion } from "./process-version.ts";
import { readVersions } from "../../adapters/postgres/queries/asset-rows.ts";

export interface Again {
  /** `resubmit`: other data, and a new review. `reprocess`: the same data, and none. */
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

/** One more revision of a version that exists. */
export async function runAgain(
  deps: DomainDeps,
  assetId: string,
  ordinal: number,
  again: Again,
  act: Act,
): Promise<Accepted> {
  const asset = await findAsset(deps.db, assetId);
  if (asset === undefined) throw assetMissing(assetId);
  const before = versionOf(await readVersions(deps.db, assetId), ordinal);
  const platform = await findPlatform(deps.db, asset.platform_id);
  if (platform === undefined) throw assetMissing(assetId);
  const last = await findRequest(deps.db, before.request_id);
  const workflow_id = again.workflow_id ?? before.workflow_id;
  const kept = last?.inputs ?? {};
  const inputs = again.kind === "reprocess" ? { ...kept, ...again.inputs } : (again.inputs ?? kept);
  const body_hash = hashBody({
    ...{ kind: again.kind, assetId, ordinal, workflow_id, inputs },
    label: again.version_label ?? null,
  });
  const find = (db: Queryable) => findAnswered(db, asset.platform_id, again, body_hash);
  const earlier = await find(deps.db);
  if (earlier !== undefined) return answerEarlier(earlier);
  const { callback_url } = again;
  const findings = await checkWork(deps, platform, { workflow_id, inputs, callback_url });
  if (findings.length > 0) {
    throw new Problem("INVALID_SUBMISSION", "Nothing was created: see each error.", findings);
  }
  const mayRun = again.kind === "resubmit" ? mayResubmit : mayReprocess;
  return retryOnTakenKey(deps.db, find, async () => {
    let answer: Accepted | undefined;
    await changeAsset(deps, assetId, act, async (held) => {
      const version = versionOf(held.versions, ordinal);
      demand(mayRun(version));
      const request_id = again.request_id ?? randomUUID();
      const job_id = newJobId();
      const revision = version.revision + 1;
      const label = again.version_label ?? version.version_label;
      const key = { asset_id: assetId, version_ordinal: ordinal, revision, request_id };
      restartVersion(
        held.tx,
        { ...key, workflow_id, job_id, created_by: act.actor },
        { review: again.kind === "resubmit", label: again.version_label },
      );
      const type = again.kind === "resubmit" ? "version_resubmitted" : "version_reprocessed";
      held.record(type, ordinal, { revision, request_id });
      answer = await processVersion(deps, held, platform, {
        ...{ ...key, job_id, label, kind: again.kind, workflow_id, inputs },
        ...{ options: again, identity: asset.platform_refs, body_hash, act },
      });
    });
    if (answer === undefined) throw new Error("the change ended without an answer");
    return answer;
  });
}
