import { insertAssetJob, insertRequest } from "../../adapters/postgres/repositories/requests.ts";
import type { Accepted } from "../../core/api/requests.ts";
import { Problem } from "../../core/errors.ts";
import type { JsonObject } from "../../core/model/json.ts";
import type { Platform } from "../../core/model/platform.ts";
import type { RequestKind } from "../../core/model/request.ts";
import { prepareJob, createJobs } from "../jobs/submit-jobs.ts";
import type { HeldAsset } from "./change-asset.ts";
import type { Act, DomainDeps } from "./deps.ts";
import { domainInputs } from "./version-inputs.ts";

export interface Processing {
  readonly asset_id: string;
  readonly version_ordinal: number;
  readonly revision: number;
  readonly request_id: string;
  readonly job_id: string;
  readonly label: string;
  readonly kind: RequestKind;
  readonly workflow_id: string;
  readonly inputs: JsonObject;
  readonly identity: JsonObject;
  readonly body_hash: string;
  readonly act: Act;
  readonly options: {
    readonly submitted_by?: string | undefined;
    readonly idempotency_key?: string | undefined;
    readonly callback_url?: string | undefined;
    readonly priority: number;
  };
}

/** The request and the job of a revision, in the transaction that made the revision. */
export async function processVersion(
  deps: DomainDeps,
  { tx, states }: Pick<HeldAsset, "tx" | "states">,
  { platform_id }: Platform,
  work: Processing,
): Promise<Accepted> {
  const { asset_id, version_ordinal, revision, request_id, job_id, label, workflow_id } = work;
  const { options, act, inputs, kind, body_hash } = work;
  const submitted_by = options.submitted_by ?? act.actor;
  const { definition } = await deps.engine.workflows.current(workflow_id);
  const ours = domainInputs(definition, {
    ...{ asset_id, version_ordinal, revision, request_id, platform_id },
    ...{ version_label: label, platform_refs: work.identity },
  });
  const prepared = await prepareJob(deps.engine, {
    workflow_id,
    inputs: { ...inputs, ...ours },
    priority: options.priority,
    correlation_id: request_id,
    submitted_by: submitted_by.slice(0, 64),
  });
  const key = { asset_id, version_ordinal, revision };
  const job = { ...prepared.job, job_id };
  // They leave together. The first that fails is the reason, for the others only hear of it.
  const [submitted_at, , { answers, states: begun }] = await Promise.all([
    insertRequest(tx, {
      ...{ ...key, request_id, platform_id, kind, workflow_id, inputs, body_hash, submitted_by },
      idempotency_key: options.idempotency_key ?? null,
      callback_url: options.callback_url ?? null,
      priority: options.priority,
      job_id,
    }),
    insertAssetJob(tx, { ...key, job_id, request_id, purpose: "process" }),
    createJobs(deps.engine, tx, [{ ...prepared, job }]),
  ]);
  const [answer] = answers;
  if (answer === undefined || answer instanceof Problem) {
    throw answer ?? new Problem("INTERNAL", "The job could not be created.");
  }
  states.push(...begun);
  return {
    ...{ request_id, platform_id, ...key, version_label: label, workflow_id, job_id },
    // A job may end in its first evaluation, but then its request is answered by the next question.
    ...{ status: "pending", submitted_at, created: true },
  };
}
