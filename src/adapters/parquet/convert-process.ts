/** The process of convert-parquet.ts: reads one file and ends. */
import type { ConvertAnswer, ConvertMessage } from "./convert-parquet.ts";
import { refusalOf } from "./parquet-error.ts";
import { readParquet } from "./read-parquet.ts";

process.once("message", ({ path, target, geometryColumn }: ConvertMessage) => {
  void readParquet(path, { target, geometryColumn })
    .then((facts): ConvertAnswer => ({ kind: "done", facts }), refusalOf)
    .then((answer) => {
      process.send?.(answer, () => {
        process.disconnect();
      });
    });
});
process.on("disconnect", () => {
  process.exit();
});
