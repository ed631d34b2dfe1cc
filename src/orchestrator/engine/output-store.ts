import { createHash } from "node:crypto";
import type { Storage } from "../../adapters/storage/storage.ts";
import type { JsonObject } from "../../core/model/json.ts";

/** Larger outputs go to storage, because every load of the job reads the outputs in its rows. */
const largestInRow = 256 * 1024;

/** Keeps outputs that are too large for a row in storage; the row then holds a reference. */
export interface OutputStore {
  /** Reads the output of a reference; an output that is no reference is answered unchanged. */
  resolve(output: JsonObject): Promise<JsonObject>;
  /** Stores a large output and answers its reference; undefined: it is small enough for a row. */
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
