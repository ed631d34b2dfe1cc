import { canonicalJson } from "./asset-id.ts";
import type { Sha256 } from "./asset-id.ts";
import type { JsonObject } from "../model/json.ts";

/**
 * The id of a job of stages: the same type and parameters are the same job. The text that is hashed
 * is that of Python's `json.dumps({"job_type": …, "parameters": …}, sort_keys=True)`.
 */
export function stageJobId(jobType: string, parameters: JsonObject, sha256: Sha256): string {
  return sha256(canonicalJson({ job_type: jobType, parameters }));
}

/** `{job_id[:8]}-s{stage}-{index}`, or with a name in place of the index. */
export function stageTaskId(jobId: string, stage: number, index: string): string {
  return `${jobId.slice(0, 8)}-s${stage}-${index}`;
}
