import type { Json, JsonObject } from "../model/json.ts";
import { isJsonObject } from "../model/json.ts";
import type { ServiceOutputs } from "../model/version.ts";

/** Reads from a job's result where its data are, by the names that a workflow's `outputs` use. */
export function readOutputs(result: JsonObject): ServiceOutputs {
  return {
    blob_path: text(result, "blob_path"),
    table_name: text(result, "table_name"),
    stac_collection_id: text(result, "stac_collection_id") ?? text(result, "collection_id"),
    stac_item_id: text(result, "stac_item_id") ?? text(result, "item_id"),
    content_hash: text(result, "content_hash"),
  };
}

/** Reads the result of an export job. */
export function readExport(result: JsonObject): {
  external_blob_path: string | null;
  adf_run_id: string | null;
} {
  return {
    external_blob_path: text(result, "external_blob_path"),
    adf_run_id: text(result, "adf_run_id"),
  };
}

function text(result: JsonObject, name: string): string | null {
  const value = Object.hasOwn(result, name) ? result[name] : undefined;
  return typeof value === "string" && value !== "" ? value : null;
}

/** Paths of files that a job wrote, in its folder: a platform reads them at its service addresses. */
const storedPath = /^(?:silver|gold|results)\//;
const jobFolder = /^[a-z]+\/[0-9a-f]{32}\//;

const ours = new Set(["_provenance", "job_id", "task_id", "node_id", "worker_id", "owner_id"]);

/**
 * Rewrites a result for the platform. A platform knows its request and never our jobs, so keys with
 * our ids are left out, a path in storage that contains a job id becomes null, and a job id inside
 * another text becomes the request's id.
 */
export function partnerResult(result: Json, jobId: string, requestId: string): Json {
  if (typeof result === "string") {
    const isOfJob = jobFolder.test(result) || result.includes(jobId);
    if (storedPath.test(result) && isOfJob) return null;
    return result.replaceAll(jobId, requestId);
  }
  if (Array.isArray(result)) {
    return (result as readonly Json[]).map((each) => partnerResult(each, jobId, requestId));
  }
  if (!isJsonObject(result)) return result;
  return Object.fromEntries(
    Object.entries(result)
      .filter(([key]) => !ours.has(key))
      .map(([key, value]) => [
        key.replaceAll(jobId, requestId),
        partnerResult(value, jobId, requestId),
      ]),
  );
}
