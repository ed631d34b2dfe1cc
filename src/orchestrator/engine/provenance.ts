import type { JobRow } from "../../adapters/postgres/repositories/jobs.ts";
import { version } from "../../adapters/runtime/version.ts";
import type { JsonObject } from "../../core/model/json.ts";

/** What made a result, so that a file found years later can be traced to its workflow. */
export function provenance(row: JobRow): JsonObject {
  return {
    job_id: row.job_id,
    workflow_id: row.workflow_id,
    workflow_version: row.workflow_version,
    workflow_hash: row.workflow_hash,
    engine_version: version,
  };
}
