import type { JobRow } from "../../adapters/postgres/repositories/jobs.ts";
import type { Json, JsonObject } from "../../core/model/json.ts";
import { isJsonObject } from "../../core/model/json.ts";
import { version } from "../../adapters/runtime/version.ts";

/** The result with what made it, so that a file found years later can be traced to its workflow. */
export function provenance(row: JobRow, result: Json): JsonObject {
  const _provenance = {
    job_id: row.job_id,
    workflow_id: row.workflow_id,
    workflow_version: row.workflow_version,
    workflow_hash: row.workflow_hash,
    engine_version: version,
  };
  return isJsonObject(result) ? { ...result, _provenance } : { result, _provenance };
}
