import { mkdir, open, rm } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import path from "node:path";
import type { Storage } from "../../../adapters/storage/storage.ts";
import { boundsOf, unite } from "../../../core/vector/parts.ts";
import type { Bounds } from "../../../core/vector/parts.ts";
import { geometryFields } from "../../../core/vector/write-wkb.ts";
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
  readonly bounds: Bounds | undefined;
  readonly chunk_count: number;
}

interface OpenChunk {
  readonly index: number;
  readonly file: string;
  readonly handle: FileHandle;
  rows: number;
  pending: string[];
  pendingLength: number;
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
  private readonly totals = new Map<Kind, { rows: number; bounds: Bounds | undefined }>();
  private started: number;

  constructor(options: ChunkWriterOptions) {
    this.options = options;
    this.started = options.firstIndex;
  }

  /**
   * `attributes`: the row's other columns in COPY's text format, one byte for each character
   * (latin1).
   */
  async write(kind: Kind, parts: Parts, attributes: string): Promise<void> {
    const total = this.totals.get(kind) ?? { rows: 0, bounds: undefined };
    total.rows += 1;
    total.bounds = unite(total.bounds, boundsOf(parts));
    this.totals.set(kind, total);
    const chunk = this.open.get(kind) ?? (await this.begin(kind));
    const geometry = geometryFields(this.options.form, kind, parts, toHex);
    const rest = attributes === "" ? "" : `\t${attributes}`;
    const line = `${total.rows}\t${chunk.index}\t${geometry}${rest}\n`;
    chunk.pending.push(line);
    chunk.pendingLength += line.length;
    chunk.rows += 1;
    if (chunk.pendingLength >= flushLength) await flush(chunk);
    if (chunk.rows >= this.options.chunkSize) await this.end(kind, chunk);
  }

  async finish(): Promise<WrittenKind[]> {
    for (const [kind, chunk] of this.open) await this.end(kind, chunk);
    this.chunks.sort((a, b) => a.index - b.index);
    return kinds.flatMap((kind) => {
      const total = this.totals.get(kind);
      if (total === undefined) return [];
      const chunk_count = this.chunks.filter((chunk) => chunk.kind === kind).length;
      return [{ kind, feature_count: total.rows, bounds: total.bounds, chunk_count }];
    });
  }

  private async begin(kind: Kind): Promise<OpenChunk> {
    const index = this.started++;
    await mkdir(this.options.folder, { recursive: true });
    const file = path.join(this.options.folder, `${index}.copy`);
    const handle = await open(file, "w");
    const chunk = { index, file, handle, rows: 0, pending: [], pendingLength: 0 };
    this.open.set(kind, chunk);
    return chunk;
  }

  private async end(kind: Kind, chunk: OpenChunk): Promise<void> {
    this.open.delete(kind);
    await flush(chunk);
    await chunk.handle.close();
    const { storage, prefix, signal } = this.options;
    const blob_path = `${prefix}/${String(chunk.index).padStart(6, "0")}.copy`;
    await storage.putFile(blob_path, chunk.file, { signal });
    await rm(chunk.file);
    this.chunks.push({ index: chunk.index, kind, blob_path, feature_count: chunk.rows });
  }
}

async function flush(chunk: OpenChunk): Promise<void> {
  if (chunk.pending.length === 0) return;
  // Attributes are bytes that were not decoded: latin1 writes them back unchanged.
  await chunk.handle.write(Buffer.from(chunk.pending.join(""), "latin1"));
  chunk.pending = [];
  chunk.pendingLength = 0;
}

/** Storage path of a load's chunks until its layer is published. */
export function chunkPrefix(loadId: string): string {
  return `silver/vector-loads/${loadId}`;
}
