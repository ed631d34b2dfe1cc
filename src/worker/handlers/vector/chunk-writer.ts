import { mkdir, open, rm } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import path from "node:path";
import type { Storage } from "../../../adapters/storage/storage.ts";
import { boundsOf } from "../../../core/vector/parts.ts";
import type { Bounds } from "../../../core/vector/parts.ts";
import type { PlainGeometry } from "../../../core/vector/plain-geometry.ts";
import { boundsField, geometryFields, multiHeader } from "../../../core/vector/write-wkb.ts";
import type { GeometryForm } from "../../../core/vector/geo-table.ts";
import { kinds } from "../../../core/vector/parts.ts";
import type { Kind, Parts } from "../../../core/vector/parts.ts";

export interface WrittenChunk {
  readonly index: number;
  readonly kind: Kind;
  readonly blob_path: string;
  readonly feature_count: number;
}

export interface WrittenKind {
  readonly kind: Kind;
  readonly feature_count: number;
  readonly bounds: Bounds;
  readonly chunk_count: number;
}

interface OpenChunk {
  readonly index: number;
  readonly file: string;
  readonly handle: FileHandle;
  rows: number;
  /** Rows that are not yet in the file, up to `length`. */
  pending: Buffer;
  length: number;
}

export interface ChunkWriterOptions {
  readonly folder: string;
  readonly storage: Storage;
  /** Storage path of the chunks, without a slash at the end. */
  readonly prefix: string;
  readonly form: GeometryForm;
  readonly chunkSize: number;
  readonly signal: AbortSignal;
  /** The index of the first chunk: the layers of one load are numbered on. */
  readonly firstIndex: number;
}

const flushLength = 1024 * 1024;
const toHex = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("hex");

/**
 * Writes the rows of one load to files in the format of COPY. Each kind of geometry has its own
 * files, and a file is closed and put into storage after `chunkSize` rows.
 */
export class ChunkWriter {
  readonly chunks: WrittenChunk[] = [];
  private readonly options: ChunkWriterOptions;
  private readonly open = new Map<Kind, OpenChunk>();
  private readonly totals = new Map<Kind, { rows: number; bounds: Bounds }>();
  private started: number;
  private storing: Promise<void> = Promise.resolve();

  constructor(options: ChunkWriterOptions) {
    this.options = options;
    this.started = options.firstIndex;
  }

  /**
   * `attributes`: the row's other columns in COPY's text format, one byte for each character
   * (latin1).
   */
  async write(kind: Kind, parts: Parts, attributes: string): Promise<void> {
    const chunk = this.open.get(kind) ?? (await this.begin(kind));
    const [west, south, east, north] = boundsOf(parts) ?? [NaN, NaN, NaN, NaN];
    const row = this.count(kind, west, south, east, north);
    const geometry = geometryFields(this.options.form, kind, parts, toHex);
    const rest = attributes === "" ? "" : `\t${attributes}`;
    append(chunk, `${row}\t${chunk.index}\t${geometry}${rest}\n`);
    await this.endRow(kind, chunk);
  }

  /**
   * Writes a geometry that needs no change. `attributes` are bytes of a dump's row, or text as `write`
   * takes it. Answers a promise only where the caller has to wait.
   */
  writePlain(geometry: PlainGeometry, attributes: string | Uint8Array): Promise<void> | undefined {
    const { kind } = geometry;
    const chunk = this.open.get(kind);
    if (chunk === undefined) {
      return this.begin(kind).then(() => this.writePlain(geometry, attributes));
    }
    const { west, south, east, north, digitCount } = geometry;
    const row = this.count(kind, west, south, east, north);
    const { form } = this.options;
    append(chunk, `${row}\t${chunk.index}\t${multiHeader(form, kind)}`);
    reserve(chunk, digitCount);
    geometry.writeTo(chunk.pending, chunk.length);
    chunk.length += digitCount;
    if (form === "wkb") append(chunk, `\t${boundsField([west, south, east, north])}`);
    if (attributes.length > 0) append(chunk, "\t");
    append(chunk, attributes);
    append(chunk, "\n");
    return this.endRow(kind, chunk);
  }

  private count(kind: Kind, west: number, south: number, east: number, north: number): number {
    const total = this.totals.get(kind);
    if (total === undefined) {
      this.totals.set(kind, { rows: 1, bounds: [west, south, east, north] });
      return 1;
    }
    total.rows += 1;
    const { bounds } = total;
    if (west < bounds[0]) bounds[0] = west;
    if (south < bounds[1]) bounds[1] = south;
    if (east > bounds[2]) bounds[2] = east;
    if (north > bounds[3]) bounds[3] = north;
    return total.rows;
  }

  private endRow(kind: Kind, chunk: OpenChunk): Promise<void> | undefined {
    chunk.rows += 1;
    if (chunk.rows >= this.options.chunkSize) return this.end(kind, chunk);
    return chunk.length >= flushLength ? flush(chunk) : undefined;
  }

  async finish(): Promise<WrittenKind[]> {
    for (const [kind, chunk] of this.open) await this.end(kind, chunk);
    await this.storing;
    this.chunks.sort((a, b) => a.index - b.index);
    return kinds.flatMap((kind) => {
      const total = this.totals.get(kind);
      if (total === undefined) return [];
      const chunk_count = this.chunks.filter((chunk) => chunk.kind === kind).length;
      return [{ kind, feature_count: total.rows, bounds: total.bounds, chunk_count }];
    });
  }

  /** Removes what was written, also what is in storage already. */
  async discard(): Promise<void> {
    await this.storing.catch(() => undefined);
    for (const { handle } of this.open.values()) await handle.close();
    this.open.clear();
    const { storage, folder } = this.options;
    for (const { blob_path } of this.chunks.splice(0)) await storage.delete(blob_path);
    await rm(folder, { recursive: true, force: true });
  }

  private async begin(kind: Kind): Promise<OpenChunk> {
    const index = this.started++;
    await mkdir(this.options.folder, { recursive: true });
    const file = path.join(this.options.folder, `${index}.copy`);
    const handle = await open(file, "w");
    const pending = Buffer.allocUnsafe(2 * flushLength);
    const chunk = { index, file, handle, rows: 0, pending, length: 0 };
    this.open.set(kind, chunk);
    return chunk;
  }

  /** A chunk is stored while the next one is filled; waits for the chunk before it. */
  private end(kind: Kind, chunk: OpenChunk): Promise<void> {
    this.open.delete(kind);
    const before = this.storing;
    this.storing = before.then(() => this.store(kind, chunk));
    // A failure is that of the next chunk, or of `finish`.
    this.storing.catch(() => undefined);
    return before;
  }

  private async store(kind: Kind, chunk: OpenChunk): Promise<void> {
    await flush(chunk);
    await chunk.handle.close();
    const { storage, prefix, signal } = this.options;
    const blob_path = `${prefix}/${String(chunk.index).padStart(6, "0")}.copy`;
    await storage.putFile(blob_path, chunk.file, { signal });
    await rm(chunk.file);
    this.chunks.push({ index: chunk.index, kind, blob_path, feature_count: chunk.rows });
  }
}

function append(chunk: OpenChunk, text: string | Uint8Array): void {
  reserve(chunk, text.length);
  // Attributes are bytes that were not decoded: latin1 writes them back unchanged.
  if (typeof text === "string") chunk.pending.write(text, chunk.length, "latin1");
  else chunk.pending.set(text, chunk.length);
  chunk.length += text.length;
}

function reserve(chunk: OpenChunk, length: number): void {
  if (chunk.length + length <= chunk.pending.length) return;
  const larger = Buffer.allocUnsafe(2 * (chunk.length + length));
  chunk.pending.copy(larger, 0, 0, chunk.length);
  chunk.pending = larger;
}

async function flush(chunk: OpenChunk): Promise<void> {
  const { length } = chunk;
  chunk.length = 0;
  // A write may take a part of the bytes only.
  for (let done = 0; done < length;) {
    const { bytesWritten } = await chunk.handle.write(chunk.pending, done, length - done);
    done += bytesWritten;
  }
}

/** Storage path of a load's chunks until its layer is published. */
export function chunkPrefix(loadId: string): string {
  return `silver/vector-loads/${loadId}`;
}
