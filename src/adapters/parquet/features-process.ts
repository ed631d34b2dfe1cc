/** The process of confined-features.ts: answers one request and ends. */
import { on } from "node:events";
import type { FeaturesAnswer, FeaturesQuestion } from "./features-protocol.ts";
import { largestPiece } from "./features-protocol.ts";
import { ParquetError, refusalOf } from "./parquet-error.ts";
import type { ParquetFeature, WantedFeatures } from "./read-features.ts";
import { openParquetFeatures } from "./read-features.ts";

/** Features that are sent together. */
const mostFeatures = 1000;
const mostBytes = 4 * 1024 * 1024;
/** The largest countries, in every detail that is mapped, have a tenth of it. */
const largestFeature = 128 * 1024 * 1024;

const questions = on(process, "message")[Symbol.asyncIterator]();

async function next<Kind extends FeaturesQuestion["kind"]>(kind: Kind) {
  const { value } = (await questions.next()) as { value: [FeaturesQuestion] };
  if (value[0].kind !== kind) throw new Error(`"${kind}" was expected`);
  return value[0] as Extract<FeaturesQuestion, { kind: Kind }>;
}

function send(answer: FeaturesAnswer): Promise<void> {
  return new Promise((resolve) => {
    process.send?.(answer, () => {
      resolve();
    });
  });
}

async function answer({ bytes, wanted }: Extract<FeaturesQuestion, { kind: "read" }>) {
  const file = await openParquetFeatures(openFile(bytes));
  if (wanted === undefined) await send({ kind: "about", about: file.about });
  else await sendFeatures(file.features(wanted), wanted);
  await send({ kind: "end" });
}

/** The library asks for several ranges at once; the pieces are fetched one after the other. */
function openFile(bytes: number) {
  let last: Promise<unknown> = Promise.resolve();
  async function fetch(from: number, to: number): Promise<ArrayBuffer> {
    if (from < 0 || to > bytes || from > to) {
      throw new ParquetError("FILE_UNREADABLE", "The Parquet file ends before its pages do.");
    }
    const content = new Uint8Array(to - from);
    for (let at = from; at < to; at += largestPiece) {
      const length = Math.min(largestPiece, to - at);
      await send({ kind: "range", offset: at, length });
      content.set((await next("range")).content, at - from);
    }
    return content.buffer;
  }
  return {
    byteLength: bytes,
    slice: (start: number, end = bytes): Promise<ArrayBuffer> => {
      const read = last.then(() => fetch(start < 0 ? bytes + start : start, end));
      last = read.catch(() => undefined);
      return read;
    },
  };
}

async function sendFeatures(found: AsyncIterable<ParquetFeature>, { columns }: WantedFeatures) {
  let features: ParquetFeature[] = [];
  let size = 0;
  const flush = async () => {
    await send({ kind: "features", features });
    await next("more");
    [features, size] = [[], 0];
  };
  for await (const feature of found) {
    const own = columns.reduce(
      (sum, name) => sum + sizeOf(feature.properties[name]),
      feature.wkb.length,
    );
    if (own > largestFeature) {
      throw new ParquetError("FORMAT_NOT_SUPPORTED", "A feature has more than 128 MiB.");
    }
    features.push(feature);
    size += own;
    if (features.length >= mostFeatures || size >= mostBytes) await flush();
  }
  if (features.length > 0) await flush();
}

function sizeOf(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (value instanceof Uint8Array) return value.length;
  if (typeof value !== "object" || value === null) return 8;
  return Object.values(value).reduce((sum: number, each) => sum + sizeOf(each), 8);
}

void next("read")
  .then(answer)
  .catch((error: unknown) => send(refusalOf(error)))
  .then(() => {
    process.disconnect();
  });
process.on("disconnect", () => {
  process.exit();
});
