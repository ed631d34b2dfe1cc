import type { JsonObject } from "./json.ts";
import { isJsonObject } from "./json.ts";

/** What made a result, so that a file can be traced to its workflow years later. */
interface Provenance {
  readonly job_id: string;
  readonly workflow_id: string;
  readonly workflow_version: string;
  readonly workflow_hash: string;
}

/** Adds what the row of a job keeps of the provenance: the rest stands in other columns of the row. */
export function keepProvenance(result: JsonObject, engineVersion: string): JsonObject {
  return { ...result, _provenance: { engine_version: engineVersion } };
}

/** Gives a result that was read from the row of its job the whole provenance. */
export function addProvenance(
  { job_id, workflow_id, workflow_version, workflow_hash }: Provenance,
  result: JsonObject,
): JsonObject {
  const kept = result["_provenance"];
  if (!isJsonObject(kept)) return result;
  const _provenance = { job_id, workflow_id, workflow_version, workflow_hash, ...kept };
  return { ...result, _provenance };
}
