import { findAsset, readVersions } from "../../adapters/postgres/queries/asset-rows.ts";
import {
  answerRequest,
  dropOldRequests,
  findRequests,
} from "../../adapters/postgres/repositories/task-requests.ts";
import { Problem, errorCatalogue } from "../../core/errors.ts";
import type { TaskAnswer, TaskRequest } from "../../core/model/task-request.ts";
import type { AssetDeps } from "./deps.ts";
import { approveVersion, rejectVersion } from "./review-version.ts";

const atOnce = 100;

/** Answers what tasks have asked. Each request is one change of an asset, with its own audit event. */
export async function answerTasks(deps: AssetDeps): Promise<void> {
  for (const request of await findRequests(deps.db, atOnce)) {
    const answer = await answerOne(deps, request);
    if (answer !== undefined) await answerRequest(deps.db, request.task_id, answer);
  }
  await dropOldRequests(deps.db);
}

/** Undefined: a failure of our own, such as a lost connection; the next pass tries again. */
async function answerOne(
  deps: AssetDeps,
  request: TaskRequest & { readonly job_id: string },
): Promise<TaskAnswer | undefined> {
  try {
    await act(deps, request);
    return { ok: true, result: await stateOf(deps, request) };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (error.status >= 500) return undefined;
    const { code, message } = error;
    return { ok: false, code, message, retry: errorCatalogue[code].retry };
  }
}

async function act(
  deps: AssetDeps,
  request: TaskRequest & { readonly job_id: string },
): Promise<void> {
  const { asset_id, version_ordinal } = request.params;
  const { approval_state, processing_state } = await stateOf(deps, request);
  const via = `job ${request.job_id}`;
  switch (request.action) {
    case "trigger_approval":
      if (processing_state === "completed") return;
      throw new Problem(
        "VERSION_NOT_PROCESSED",
        `Version ${version_ordinal} is ${processing_state}: it can be reviewed once it is processed.`,
      );
    case "approve": {
      // A crash between the approval and its answer leaves an approved version behind.
      if (approval_state === "approved") return;
      const { clearance, note, reviewer } = request.params;
      await approveVersion(
        deps,
        asset_id,
        version_ordinal,
        { clearance, note },
        { actor: reviewer, via },
      );
      return;
    }
    case "reject": {
      if (approval_state === "rejected") return;
      const { reason, reviewer } = request.params;
      await rejectVersion(deps, asset_id, version_ordinal, reason, { actor: reviewer, via });
    }
  }
}

async function stateOf(deps: AssetDeps, { params }: TaskRequest) {
  const { asset_id, version_ordinal } = params;
  const asset = await findAsset(deps.db, asset_id);
  if (asset === undefined) throw new Problem("ASSET_NOT_FOUND", `There is no asset "${asset_id}".`);
  const versions = await readVersions(deps.db, asset_id);
  const version = versions.find((each) => each.version_ordinal === version_ordinal);
  if (version === undefined) {
    throw new Problem(
      "VERSION_NOT_FOUND",
      `Asset "${asset_id}" has no version ${version_ordinal}.`,
    );
  }
  const { approval_state, processing_state } = version;
  const { clearance_state } = asset;
  return { asset_id, version_ordinal, approval_state, clearance_state, processing_state };
}
