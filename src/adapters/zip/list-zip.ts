import { Readable } from "node:stream";
import yauzl from "yauzl";
import type { ByteSource } from "../cog/byte-source.ts";

/** A suggestion needs no more of a directory. */
const mostNames = 5000;

/** The names in an archive of which only its directory is read; empty if it is damaged. */
export function listZip(source: ByteSource): Promise<string[]> {
  return new Promise((resolve) => {
    const names: string[] = [];
    const end = () => {
      resolve(names);
    };
    const options = { lazyEntries: true, autoClose: false, strictFileNames: false };
    yauzl.fromRandomAccessReader(new Reader(source), source.size, options, (error, zip) => {
      if (error !== null) {
        end();
        return;
      }
      zip.on("error", end);
      zip.on("end", end);
      zip.on("entry", ({ fileName }: yauzl.Entry) => {
        names.push(fileName);
        if (names.length < mostNames) zip.readEntry();
        else end();
      });
      zip.readEntry();
    });
  });
}

class Reader extends yauzl.RandomAccessReader {
  private readonly source: ByteSource;

  constructor(source: ByteSource) {
    super();
    this.source = source;
  }

  override _readStreamForRange(start: number, end: number): Readable {
    const { source } = this;
    return Readable.from(
      (async function* () {
        yield Buffer.from(await source.read(start, end - start));
      })(),
    );
  }
}
