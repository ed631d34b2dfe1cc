/** The process of convert-parquet.ts: reads one file and ends. */
import type { ConvertAnswer, ConvertMessage } from "./convert-parquet.ts";
import { ParquetError, readParquet } from "./read-parquet.ts";

async function answer({ path, target, geometryColumn }: ConvertMessage): Promise<ConvertAnswer> {
  try {
    const { types, rawColumns, ...facts } = await readParquet(path, { target, geometryColumn });
    return { kind: "done", facts, types: [...types], rawColumns: [...rawColumns] };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return error instanceof ParquetError
      ? { kind: "refused", code: error.problem, message }
      : { kind: "failed", message };
  }
}

process.once("message", (message) => {
  void answer(message as ConvertMessage).then((given) => {
    process.send?.(given, () => {
      process.disconnect();
    });
  });
});
process.on("disconnect", () => {
  process.exit();
});
