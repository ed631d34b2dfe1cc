/** Converts GeoParquet to CSV in a process of its own. */
import type { ParquetRefusal } from "./parquet-error.ts";
import { errorOf } from "./parquet-error.ts";
import type { ReadParquet } from "./read-parquet.ts";
import type { ParquetLimits } from "./start-process.ts";
import { startProcess } from "./start-process.ts";

export interface ConvertMessage {
  readonly path: string;
  readonly target: string;
  readonly geometryColumn: string | undefined;
}

export type ConvertAnswer = { readonly kind: "done"; readonly facts: ReadParquet } | ParquetRefusal;

export async function convertParquet(
  message: ConvertMessage,
  limits: ParquetLimits,
): Promise<ReadParquet> {
  const { child, stop, explainEnd } = await startProcess("convert-process.js", limits);
  try {
    const answer = await new Promise<ConvertAnswer | undefined>((resolve, reject) => {
      child.once("message", (given: ConvertAnswer) => {
        resolve(given);
      });
      child.once("error", reject);
      child.once("disconnect", () => {
        resolve(undefined);
      });
      child.send(message, () => undefined);
    });
    if (answer === undefined) throw explainEnd();
    if (answer.kind === "refused") throw errorOf(answer);
    return answer.facts;
  } finally {
    stop();
  }
}
