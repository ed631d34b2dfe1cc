/**
 * Reads the features of a GeoParquet file from outside. Another process decodes it and asks this one for
 * the bytes that it needs, so it needs no access to storage; this one never sees a page.
 */
import { on } from "node:events";
import type { ByteStore } from "../tiles/byte-source.ts";
import type { FeaturesAnswer, FeaturesQuestion } from "./features-protocol.ts";
import { largestPiece } from "./features-protocol.ts";
import { errorOf } from "./parquet-error.ts";
import type { FeatureFile, ParquetFeature, WantedFeatures } from "./read-features.ts";
import type { ParquetLimits } from "./start-process.ts";
import { startProcess } from "./start-process.ts";

export interface StoredParquet {
  readonly storage: Pick<ByteStore, "readRange">;
  readonly path: string;
  readonly bytes: number;
}

export async function describeFeatures(
  file: StoredParquet,
  limits: ParquetLimits,
): Promise<FeatureFile> {
  for await (const answer of ask(file, undefined, limits)) {
    if (answer.kind === "about") return answer.about;
  }
  throw new Error("a file is described before the answer ends");
}

export async function* readFeatures(
  file: StoredParquet,
  wanted: WantedFeatures,
  limits: ParquetLimits,
): AsyncGenerator<ParquetFeature> {
  for await (const answer of ask(file, wanted, limits)) {
    if (answer.kind === "features") yield* answer.features;
  }
}

async function* ask(
  { storage, path, bytes }: StoredParquet,
  wanted: WantedFeatures | undefined,
  limits: ParquetLimits,
): AsyncGenerator<FeaturesAnswer> {
  const { child, stop, explainEnd } = await startProcess("features-process.js", limits);
  // A process that has ended takes no message; the end of its answers says so below.
  const send = (question: FeaturesQuestion) => child.send(question, () => undefined);
  try {
    const answers = on(child, "message", { close: ["disconnect"] });
    send({ kind: "read", bytes, wanted });
    for await (const [answer] of answers as AsyncIterable<[FeaturesAnswer]>) {
      if (answer.kind === "refused") throw errorOf(answer);
      if (answer.kind === "end") return;
      if (answer.kind === "range") {
        const { offset, length } = answer;
        const isInside = offset >= 0 && length <= largestPiece && offset + length <= bytes;
        if (!isInside) throw new Error("the Parquet file is read beyond its end");
        send({ kind: "range", content: await storage.readRange(path, offset, length) });
        continue;
      }
      // The next features are decoded while these are used.
      if (answer.kind === "features") send({ kind: "more" });
      yield answer;
    }
    throw explainEnd();
  } finally {
    stop();
  }
}
