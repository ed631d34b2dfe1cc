/**
 * The rows of a layer as GDAL converts them. Several runs of GDAL convert the parts of a long layer at
 * once, where it can be cut: GDAL takes longer for a row than all other work on it.
 */
import { rm } from "node:fs/promises";
import type { DumpColumn } from "../../../core/vector/read-dump.ts";
import type { HandlerContext } from "../../define-handler.ts";
import type { Conversion, PlacedLayer } from "./convert-layer.ts";
import { convertLayer } from "./convert-layer.ts";
import { cutLayer } from "./cut-layer.ts";
import type { CutSource } from "./cut-layer.ts";
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

export function openRows(
  source: PlacedLayer,
  name: string,
  cut: CutSource,
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
  async function* read(onColumns: (columns: readonly DumpColumn[]) => void) {
    const cuts = await cutLayer(source, cut, context.signal);
    if (cuts.length > 1) {
      const parts = cuts.map((part, index) =>
        startDump(begin(part, `${name}-${index}`), context.signal),
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
    yield* openDump(begin(source, name), context.signal, onColumns);
  }
  return { isHalved: source.isHalving, read, stop, discard };
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
