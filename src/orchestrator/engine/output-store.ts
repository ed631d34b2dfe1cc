import type { Storage } from "../../adapters/storage/storage.ts";
import { readValue, storeValue } from "../../adapters/storage/stored-values.ts";
import { weigh } from "../../core/dag/language/weigh.ts";
import type { Json, JsonObject } from "../../core/model/json.ts";
import { valueLimits } from "../../core/model/limits.ts";
import type { ValueReference } from "../../core/model/value-reference.ts";
import { isReference } from "../../core/model/value-reference.ts";

/** Keeps values that are too large for a row in storage; the row then holds a reference. */
export interface OutputStore {
  /** Reads the output of a reference; an output that is no reference is answered unchanged. */
  resolve(output: JsonObject): Promise<JsonObject>;
  store(jobId: string, value: Json): Promise<ValueReference>;
  /** Stores a large output and answers its reference; undefined: it is small enough for a row. */
  offload(jobId: string, output: JsonObject): Promise<ValueReference | undefined>;
}

export function createOutputStore(storage: Storage): OutputStore {
  const store = (jobId: string, value: Json) => storeValue(storage, jobId, JSON.stringify(value));
  return {
    resolve: async (output) =>
      isReference(output) ? ((await readValue(storage, output)) as JsonObject) : output,
    store,
    offload: async (jobId, output) => (isLarge(output) ? await store(jobId, output) : undefined),
  };
}

/** Larger values go to storage, because every load of the job reads the values in its rows. */
export function isLarge(value: Json): boolean {
  // A fan-in puts outputs of the greatest depth into a list and an object.
  return weigh(value, valueLimits.inline, valueLimits.depth + 8) === "too large";
}
