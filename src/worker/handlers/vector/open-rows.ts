/**
 * The rows of a layer as GDAL converts them. A long file of JSON lines is cut into parts that several
 * runs of GDAL convert at once: parsing JSON takes GDAL longer than all other work on a row.
 */
import { createReadStream, createWriteStream } from "node:fs";
import { open, rm } from "node:fs/promises";
import { availableParallelism } from "node:os";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import type { DumpColumn } from "../../../core/vector/read-dump.ts";
import type { HandlerContext } from "../../define-handler.ts";
import type { Conversion, PlacedLayer } from "./convert-layer.ts";
import { convertLayer } from "./convert-layer.ts";
import type { DumpRow } from "./open-dump.ts";
import { openDump } from "./open-dump.ts";

export interface LayerRows {
  /** True: the coordinates are in units of two degrees. */
  readonly isHalved: boolean;
  /** `onColumns` is called once, before the first row. */
  read(onColumns: (columns: readonly DumpColumn[]) => void): AsyncIterable<DumpRow[]>;
  /** Ends GDAL, if its rows are no longer wanted. */
  stop(): void;
  /** Ends GDAL, and removes what it has written. */
  discard(): Promise<void>;
}

/** Shorter files are converted before a second process would be ready. */
const shortestFile = 4 * 1024 * 1024;
const mostParts = 4;
const recordSeparator = 0x1e;
const newline = 0x0a;

/** `lines`: of a file of JSON lines, how many it has. */
export function openRows(
  source: PlacedLayer,
  name: string,
  lines: number | undefined,
  context: HandlerContext,
): LayerRows {
  const begun: Conversion[] = [];
  const begin = (opened: PlacedLayer, part: string): Conversion => {
    const conversion = convertLayer({ ...opened, isProjected: true }, part, context);
    begun.push(conversion);
    return conversion;
  };
  const stop = () => {
    for (const conversion of begun) conversion.stop();
  };
  const discard = async () => {
    stop();
    await Promise.allSettled(begun.map(({ written }) => written));
    for (const { path: file } of begun) await rm(file, { force: true });
  };
  const whole = lines === undefined ? begin(source, name) : undefined;

  async function* read(onColumns: (columns: readonly DumpColumn[]) => void) {
    const files = whole === undefined ? await cutLines(source.file, context.signal) : [];
    if (files.length > 1) {
      const parts = files.map((file, index) =>
        startDump(begin(partOf(source, file), `${name}-${index}`), context.signal),
      );
      try {
        // A part that GDAL cannot open may be a part of a file that it can.
        const begun = await Promise.allSettled(parts.map((part) => part.begun));
        if (begun.every(({ status }) => status === "fulfilled") && haveSameColumns(parts)) {
          onColumns(parts[0]?.columns ?? []);
          for (const part of parts) yield* part.rows();
          return;
        }
        stop();
      } finally {
        for (const part of parts) await part.end();
      }
    }
    yield* openDump(whole ?? begin(source, name), context.signal, onColumns);
  }
  return { isHalved: source.isHalving, read, stop, discard };
}

/** The layer of a part is named after its file. */
function partOf(source: PlacedLayer, file: string): PlacedLayer {
  return { ...source, file, layer: { ...source.layer, name: path.parse(file).name } };
}

interface StartedDump {
  /** Settles when the columns are known. */
  readonly begun: Promise<unknown>;
  readonly columns: readonly DumpColumn[] | undefined;
  rows(): AsyncGenerator<DumpRow[]>;
  /** Closes the file. */
  end(): Promise<unknown>;
}

function startDump(conversion: Conversion, signal: AbortSignal): StartedDump {
  let columns: readonly DumpColumn[] | undefined;
  const dump = openDump(conversion, signal, (found) => {
    columns = found;
  });
  const begun = dump.next();
  begun.catch(() => undefined);
  return {
    begun,
    get columns() {
      return columns;
    },
    async *rows() {
      const first = await begun;
      if (first.done !== true) yield first.value;
      yield* dump;
    },
    end: () => dump.return(undefined),
  };
}

/**
 * GDAL finds the columns and their types in the values. If each part has the same, the whole file has
 * them too; otherwise it is converted in one piece.
 */
function haveSameColumns(parts: readonly StartedDump[]): boolean {
  const texts = new Set(parts.map(({ columns = [] }) => JSON.stringify(columns)));
  return texts.size === 1 && parts.every(({ columns }) => columns !== undefined);
}

/** Copies the lines of a file to several files of about the same length. None: it stays whole. */
async function cutLines(file: string, signal: AbortSignal): Promise<string[]> {
  const places = await findCuts(file);
  const ending = path.extname(file);
  const stem = file.slice(0, -ending.length);
  return Promise.all(
    places.slice(1).map(async (end, index) => {
      const part = `${stem}${index}${ending}`;
      const range = { start: places[index] ?? 0, end: end - 1 };
      await pipeline(createReadStream(file, range), createWriteStream(part), { signal });
      return part;
    }),
  );
}

/** Places of line ends, the beginning and the end of the file. */
async function findCuts(file: string): Promise<number[]> {
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    const count = Math.min(mostParts, availableParallelism());
    const block = Buffer.alloc(1024 * 1024);
    const { bytesRead } = await handle.read(block, 0, 3, 0);
    // Documents that a record separator begins may have several lines.
    if (
      size < shortestFile ||
      count < 2 ||
      block.subarray(0, bytesRead).includes(recordSeparator)
    ) {
      return [];
    }
    const places = [0];
    for (let part = 1; part < count; part++) {
      const from = Math.floor((size * part) / count);
      const read = await handle.read(block, 0, block.length, from);
      const end = block.subarray(0, read.bytesRead).indexOf(newline);
      const place = from + end + 1;
      if (end >= 0 && place > (places.at(-1) ?? 0) && place < size) places.push(place);
    }
    return [...places, size];
  } finally {
    await handle.close();
  }
}
