import type { JsonObject } from "../../core/model/json.ts";

/** Outputs that are too large for a row live in storage, and the row holds a reference. */
export interface OutputStore {
  /** The output itself; what is no reference comes back as it is. */
  resolve(output: JsonObject): Promise<JsonObject>;
  /** Undefined: it is small enough to stay. */
  offload(taskId: string, output: JsonObject): Promise<JsonObject | undefined>;
}
