import { createHash } from "node:crypto";
import type { Storage } from "../../adapters/storage/storage.ts";
import type { JsonObject } from "../../core/model/json.ts";

/** Larger outputs would be read again with every load of their job. */
const largestInRow = 256 * 1024;

/** Outputs that are too large for a row live in storage, and the row holds a reference. */
export interface OutputStore {
  /** The output itself; what is no reference comes back as it is. */
  resolve(output: JsonObject): Promise<JsonObject>;
  /** Undefined: it is small enough to stay. */
  offload(taskId: string, output: JsonObject): Promise<JsonObject | undefined>;
}

export function createOutputStore(storage: Storage): OutputStore {
  return {
    async resolve(output) {
      const reference = output["$ref"];
      if (typeof reference !== "string" || !reference.startsWith("results/")) return output;
      const bytes = await storage.get(reference);
      return JSON.parse(new TextDecoder().decode(bytes)) as JsonObject;
    },

    async offload(taskId, output) {
      const bytes = new TextEncoder().encode(JSON.stringify(output));
      if (bytes.length <= largestInRow) return undefined;
      const reference = `results/${taskId}.json`;
      await storage.put(reference, bytes);
      const sha256 = createHash("sha256").update(bytes).digest("hex");
      return { $ref: reference, bytes: bytes.length, sha256 };
    },
  };
}
