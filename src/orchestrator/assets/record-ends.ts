import { randomUUID } from "node:crypto";
import type { Transaction } from "../../adapters/postgres/queryable.ts";
import type {
  EndedAssetJob,
  NewDelivery,
} from "../../adapters/postgres/repositories/asset-jobs.ts";
import {
  findAssetJobs,
  insertDelivery,
  startProcessing,
} from "../../adapters/postgres/repositories/asset-jobs.ts";
import { publishRevision } from "../../adapters/postgres/repositories/catalogue-revisions.ts";
import {
  lockAssetsOfJobs,
  recordAssetEvent,
  touchAsset,
} from "../../adapters/postgres/repositories/assets.ts";
import { endRequest } from "../../adapters/postgres/repositories/requests.ts";
import {
  endProcessing,
  setExport,
  withdrawApproval,
} from "../../adapters/postgres/repositories/versions.ts";
import { partnerResult, readExport, readOutputs } from "../../core/domain/read-outputs.ts";
import type { AssetEventType } from "../../core/model/asset.ts";
import type { CallbackEventType } from "../../core/model/request.ts";
import type { JsonObject } from "../../core/model/json.ts";
import { isJsonObject } from "../../core/model/json.ts";
import { jobTraceParent } from "../../core/trace/trace-parent.ts";
import type { EndedJob } from "../engine/deps.ts";
import { isLarge } from "../engine/output-store.ts";

/** Marks the versions and requests of these jobs as being processed. */
export function recordStarts(tx: Transaction, jobIds: readonly string[]): void {
  startProcessing(tx, jobIds, "engine");
}

/**
 * Writes what follows from the end of jobs into the transaction that ends them: the state of their
 * versions, the answers to their requests, and their callbacks. So either all of it is stored, or the
 * job still runs.
 */
export async function recordEnds(tx: Transaction, ended: readonly EndedJob[]): Promise<void> {
  for (const end of ended) queueJobCallback(tx, end);
  const ids = ended.filter((end) => end.correlation_id !== null).map(({ job_id }) => job_id);
  if (ids.length === 0) return;
  // One round trip: the links are read under the locks on their assets.
  const [, links] = await Promise.all([lockAssetsOfJobs(tx, ids), findAssetJobs(tx, ids)]);
  const endOf = new Map(ended.map((end) => [end.job_id, end]));
  for (const link of links) {
    const end = endOf.get(link.job_id);
    if (end === undefined) continue;
    recordEnd(tx, link, end);
    if (end.status === "completed" && link.has_items) await publishRevision(tx, link);
  }
}

function recordEnd(tx: Transaction, link: EndedAssetJob, end: EndedJob): void {
  switch (link.purpose) {
    case "process":
      endOfProcessing(tx, link, end);
      break;
    case "export":
      endOfExport(tx, link, end);
      break;
    case "withdraw":
      if (end.status === "completed") setExport(tx, link, { state: "withdrawn" });
      record(tx, link, end.status === "completed" ? "export_withdrawn" : "export_failed", end);
      break;
    case "unpublish":
      record(
        tx,
        link,
        end.status === "completed" ? "unpublish_completed" : "unpublish_failed",
        end,
      );
  }
  touchAsset(tx, link.asset_id);
}

function endOfProcessing(tx: Transaction, link: EndedAssetJob, end: EndedJob): void {
  const result = isJsonObject(end.result) ? end.result : {};
  const outputs = readOutputs(result);
  endProcessing(
    tx,
    link,
    end.status === "completed"
      ? { state: "completed", outputs }
      : { state: "failed", error: messageOf(end) },
  );
  if (end.status === "completed") reviewChanged(tx, link, outputs.content_hash, end);
  const shown = partnerResult(result, link.job_id, link.request_id) as JsonObject;
  const error = end.status === "completed" ? null : errorOf(link, end);
  endRequest(tx, link.request_id, link.job_id, {
    status: end.status,
    result: end.status === "completed" ? shown : null,
    error,
  });
  record(tx, link, end.status === "completed" ? "processing_completed" : "processing_failed", end);
  queueVersionCallback(tx, link, end, `processing.${end.status}`, {
    result: end.status === "completed" ? shown : null,
    error,
  });
}

/**
 * An approval is of the content that a curator saw. The source may have changed at its place since
 * then, so a reprocessed version keeps its approval only if its source has the same hash.
 */
function reviewChanged(
  tx: Transaction,
  link: EndedAssetJob,
  content: string | null,
  end: EndedJob,
): void {
  if (!link.is_approved || link.revision !== link.current_revision) return;
  if (content !== null && content === link.approved_content) return;
  withdrawApproval(tx, link);
  record(tx, link, "version_withdrawn", end, "the source is not known to be the approved one");
}

function endOfExport(tx: Transaction, link: EndedAssetJob, end: EndedJob): void {
  const { external_blob_path, adf_run_id } = readExport(isJsonObject(end.result) ? end.result : {});
  if (end.status === "completed" && external_blob_path !== null) {
    const { revision } = link;
    setExport(tx, link, { state: "completed", revision, external_blob_path, adf_run_id });
    record(tx, link, "export_completed", end);
    queueVersionCallback(tx, link, end, "export.completed", {
      result: { external_blob_path },
      error: null,
    });
    return;
  }
  setExport(tx, link, { state: "failed" });
  record(tx, link, "export_failed", end);
  queueVersionCallback(tx, link, end, "export.failed", { result: null, error: errorOf(link, end) });
}

function record(
  tx: Transaction,
  link: EndedAssetJob,
  type: AssetEventType,
  end: EndedJob,
  reason?: string,
): void {
  recordAssetEvent(tx, {
    asset_id: link.asset_id,
    version_ordinal: link.version_ordinal,
    event_type: type,
    actor: "orchestrator",
    via: "engine",
    event_data: {
      job_id: link.job_id,
      revision: link.revision,
      ...(reason === undefined ? {} : { reason }),
      ...(end.status === "completed" ? {} : { error: messageOf(end) }),
    },
  });
}

function queueVersionCallback(
  tx: Transaction,
  link: EndedAssetJob,
  end: EndedJob,
  type: CallbackEventType,
  outcome: { readonly result: JsonObject | null; readonly error: JsonObject | null },
): void {
  const { request_id, platform_id, asset_id, version_ordinal, version_label, revision } = link;
  const fields = {
    request_id,
    platform_id,
    asset_id,
    version_ordinal,
    version_label,
    revision,
    status: end.status,
    ...outcome,
    ...(isLarge(outcome.result) ? largeResult(request_id) : {}),
  };
  queueCallback(tx, link.callback_url, { platform_id, request_id }, type, end, fields);
  for (const { name, url, event_types } of link.addresses) {
    if (event_types.length > 0 && !event_types.includes(type)) continue;
    const of = { platform_id, request_id, callback_name: name };
    queueCallback(tx, url, of, type, end, fields);
  }
}

/** A body is sent again and again and stored with each delivery, so a large result is fetched. */
function largeResult(requestId: string): JsonObject {
  return { result: null, result_url: `/api/platform/status/${encodeURIComponent(requestId)}` };
}

/** The callback of a job without a platform has the address of the result, which may be large. */
function queueJobCallback(tx: Transaction, end: EndedJob): void {
  const { job_id, workflow_id, correlation_id, callback_url, status, error } = end;
  const result_url = `/api/v1/jobs/${job_id}`;
  queueCallback(tx, callback_url, { job_id }, `job.${status}`, end, {
    job_id,
    workflow_id,
    correlation_id,
    status,
    error,
    result_url,
  });
}

/** `partner-callbacks/deliver-callbacks.ts` sends the row after the commit. */
function queueCallback(
  tx: Transaction,
  url: string | null,
  of: NewDelivery["of"],
  event_type: CallbackEventType,
  { at, job_id, trace_parent }: EndedJob,
  fields: JsonObject,
): void {
  if (url === null || !URL.canParse(url)) return;
  const event_id = `evt_${randomUUID().replaceAll("-", "")}`;
  const occurred_at = new Date(at).toISOString();
  const body = { event_id, event_type, occurred_at, ...fields };
  insertDelivery(tx, {
    event_id,
    of,
    event_type,
    url,
    host: new URL(url).host,
    body,
    trace_parent: jobTraceParent(job_id, trace_parent),
  });
}

function messageOf({ error, status }: EndedJob): string {
  return error?.message ?? `the job was ${status}`;
}

/** The platform reads the error, so the id of the job is replaced by that of its request. */
function errorOf(link: EndedAssetJob, end: EndedJob): JsonObject {
  const message = messageOf(end).replaceAll(link.job_id, link.request_id);
  return { code: end.error?.code ?? null, message };
}
