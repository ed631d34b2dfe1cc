import { createWriteStream } from "node:fs";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import yauzl from "yauzl";
import { errorCode } from "../runtime/error-code.ts";
import { KnownError } from "../runtime/known-error.ts";

export interface ZipLimits {
  readonly entries: number;
  /** The sum of all entries, unpacked. */
  readonly bytes: number;
  /** The most bytes that one packed byte may unpack to, for entries above 1 MiB. */
  readonly ratio: number;
}

export interface ZipEntry {
  readonly name: string;
  readonly bytes: number;
}

export interface ZipArchive {
  /** Files only. */
  readonly entries: readonly ZipEntry[];
  /** Unpacks into an empty folder and gives the paths of the files. */
  extractTo(
    folder: string,
    options?: {
      readonly only?: ((entry: ZipEntry) => boolean) | undefined;
      readonly signal?: AbortSignal | undefined;
    },
  ): Promise<string[]>;
  close(): void;
}

export type ZipProblem =
  | "NOT_A_ZIP"
  | "ZIP_TOO_MANY_ENTRIES"
  | "ZIP_TOO_LARGE"
  | "ZIP_BOMB"
  | "ZIP_BAD_NAME"
  | "ZIP_ENCRYPTED";

export class ZipError extends KnownError {
  constructor(code: ZipProblem, message: string) {
    super(code, "permanent", message);
  }
}

const defaultLimits: ZipLimits = { entries: 10_000, bytes: 20 * 1024 ** 3, ratio: 200 };
const ratioCheckedBytes = 1024 * 1024;
const fileKind = 0o170000;
const regularFile = 0o100000;
const folderKind = 0o040000;

/**
 * Opens an archive from outside. Its whole directory is checked before anything is unpacked, and an
 * entry may not unpack to more bytes than the directory says.
 */
export async function openZip(file: string, given: Partial<ZipLimits> = {}): Promise<ZipArchive> {
  const limits = { ...defaultLimits, ...given };
  const zip = await open(file);
  try {
    const entries = await readEntries(zip, limits);
    return {
      entries: entries.map(({ fileName, uncompressedSize }) => ({
        name: fileName,
        bytes: uncompressedSize,
      })),
      extractTo: async (folder, { only = () => true, signal } = {}) => {
        const written: string[] = [];
        for (const entry of entries) {
          if (!only({ name: entry.fileName, bytes: entry.uncompressedSize })) continue;
          const target = path.join(folder, entry.fileName);
          await mkdir(path.dirname(target), { recursive: true });
          const body = await read(zip, entry);
          await pipeline(body, createWriteStream(target, { flags: "wx" }), { signal });
          written.push(target);
        }
        return written;
      },
      close: () => {
        zip.close();
      },
    };
  } catch (error) {
    zip.close();
    throw error;
  }
}

function open(file: string): Promise<yauzl.ZipFile> {
  const options = { lazyEntries: true, autoClose: false, strictFileNames: false };
  return new Promise((resolve, reject) => {
    yauzl.open(file, options, (error, zip) => {
      if (error === null) resolve(zip);
      else if (errorCode(error) !== undefined) reject(error);
      else reject(new ZipError("NOT_A_ZIP", `The archive cannot be opened: ${error.message}.`));
    });
  });
}

async function readEntries(zip: yauzl.ZipFile, limits: ZipLimits): Promise<yauzl.Entry[]> {
  if (zip.entryCount > limits.entries) {
    throw new ZipError(
      "ZIP_TOO_MANY_ENTRIES",
      `The archive has ${zip.entryCount} entries; ${limits.entries} are the most.`,
    );
  }
  const entries: yauzl.Entry[] = [];
  const names = new Set<string>();
  let [packed, unpacked] = [0, 0];
  await new Promise<void>((resolve, reject) => {
    zip.on("error", (error: Error) => {
      reject(fromLibrary(error));
    });
    zip.on("end", resolve);
    zip.on("entry", (entry: yauzl.Entry) => {
      try {
        packed += entry.compressedSize;
        unpacked += entry.uncompressedSize;
        checkEntry(entry, limits, names, { packed, unpacked, size: zip.fileSize });
        if (!isFolder(entry)) entries.push(entry);
        zip.readEntry();
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    });
    zip.readEntry();
  });
  return entries;
}

function checkEntry(
  entry: yauzl.Entry,
  limits: ZipLimits,
  names: Set<string>,
  sums: { readonly packed: number; readonly unpacked: number; readonly size: number },
): void {
  const { fileName, compressedSize, uncompressedSize } = entry;
  // A file system that ignores case would replace the first of two equal names.
  const key = fileName.toLowerCase();
  // oxlint-disable-next-line no-control-regex -- control characters are what it looks for
  if (/[\u0000-\u001f\\:]/.test(fileName) || fileName.length > 512 || names.has(key)) {
    throw badName(fileName);
  }
  names.add(key);
  const kind = (entry.externalFileAttributes >>> 16) & fileKind;
  if (kind !== 0 && kind !== regularFile && kind !== folderKind) {
    throw new ZipError("ZIP_BAD_NAME", `"${fileName}" is a link or a device, not a file.`);
  }
  if (entry.isEncrypted()) {
    throw new ZipError("ZIP_ENCRYPTED", `"${fileName}" is encrypted: pack it without a password.`);
  }
  if (sums.unpacked > limits.bytes) {
    throw new ZipError(
      "ZIP_TOO_LARGE",
      `The archive unpacks to more than ${Math.round(limits.bytes / 1024 ** 2)} MiB.`,
    );
  }
  // Entries may share packed bytes: that is how a small archive becomes endless.
  const isShared = sums.packed > sums.size;
  const isDense =
    uncompressedSize > ratioCheckedBytes && uncompressedSize > limits.ratio * compressedSize;
  if (isShared || isDense) {
    throw new ZipError(
      "ZIP_BOMB",
      `"${fileName}" unpacks ${compressedSize} bytes to ${uncompressedSize}, which no data does: pack the files again.`,
    );
  }
}

function read(zip: yauzl.ZipFile, entry: yauzl.Entry): Promise<Readable> {
  return new Promise((resolve, reject) => {
    zip.openReadStream(entry, (error, body) => {
      if (error === null) resolve(body);
      else reject(fromLibrary(error));
    });
  });
}

function isFolder({ fileName }: yauzl.Entry): boolean {
  return fileName.endsWith("/");
}

function badName(name: string): ZipError {
  return new ZipError(
    "ZIP_BAD_NAME",
    `${JSON.stringify(name)} is no name for a file in an archive, or appears twice.`,
  );
}

function fromLibrary(error: Error): Error {
  const isName = /relative path|absolute path|invalid characters in fileName/.test(error.message);
  if (isName) return new ZipError("ZIP_BAD_NAME", `The archive has an ${error.message}.`);
  return new ZipError("NOT_A_ZIP", `The archive is damaged: ${error.message}.`);
}
