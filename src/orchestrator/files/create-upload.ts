import { randomUUID } from "node:crypto";
import { findPlatform } from "../../adapters/postgres/queries/platforms.ts";
import type { UploadRow } from "../../adapters/postgres/repositories/uploads.ts";
import { insertUpload } from "../../adapters/postgres/repositories/uploads.ts";
import { BadStoragePath, splitPath } from "../../adapters/storage/storage.ts";
import { sourcePrefixesOf } from "../../core/domain/preflight.ts";
import { uploadPath } from "../../core/domain/upload-path.ts";
import { Problem } from "../../core/errors.ts";
import { readMetadata } from "../../core/files/upload-headers.ts";
import type { FileDeps } from "./deps.ts";

export interface Announced {
  /** The headers Upload-Length and Upload-Metadata as they came. */
  readonly length: string | undefined;
  readonly metadata: string | undefined;
  readonly platform_id: string | undefined;
  readonly created_by: string;
}

/** Checks the announcement of a file, so that a client learns of a refusal before it sends bytes. */
export async function createUpload(deps: FileDeps, announced: Announced): Promise<UploadRow> {
  const { platform_id, created_by } = announced;
  const length = readLength(announced.length, deps.uploads.maxBytes);
  const metadata = readMetadata(announced.metadata ?? "");
  if (metadata === undefined) {
    throw bad("Upload-Metadata must be names and values in Base64: `filename ZGVtLnRpZg==`.");
  }
  const sha256 = metadata["sha256"]?.toLowerCase() ?? null;
  if (sha256 !== null && !/^[0-9a-f]{64}$/.test(sha256)) {
    throw bad("`sha256` in Upload-Metadata must be 64 hexadecimal digits.");
  }
  const placed = uploadPath(metadata, await prefixesOf(deps, platform_id));
  if (!placed.ok) throw bad(placed.reason);
  const { path } = placed;
  const replaces = ["", "true", "1"].includes(metadata["replace"] ?? "false");
  await refuseTaken(deps, path, replaces);
  return insertUpload(deps.db, {
    upload_id: randomUUID(),
    path,
    length,
    sha256,
    metadata,
    replaces,
    platform_id: platform_id ?? null,
    created_by,
  });
}

/** An upload that must not replace a file is refused where one is. */
export async function refuseTaken(
  { storage }: FileDeps,
  path: string,
  replaces: boolean,
): Promise<void> {
  const found = await storage.head(checked(path));
  if (found === undefined || replaces) return;
  const detail = `There is a file at ${path}: choose another name, or send \`replace\` with true.`;
  throw new Problem("FILE_EXISTS", detail);
}

async function prefixesOf(
  { db }: FileDeps,
  platformId: string | undefined,
): Promise<readonly string[] | undefined> {
  if (platformId === undefined) return undefined;
  const platform = await findPlatform(db, platformId);
  if (platform !== undefined) return sourcePrefixesOf(platform);
  throw new Problem("PLATFORM_NOT_FOUND", `There is no platform "${platformId}".`);
}

function readLength(header: string | undefined, maxBytes: number): number {
  const length = Number(header);
  if (header === undefined || !/^\d{1,16}$/.test(header) || !Number.isSafeInteger(length)) {
    throw bad("Upload-Length must be the size of the file in bytes.");
  }
  if (length <= maxBytes) return length;
  throw new Problem(
    "UPLOAD_TOO_LARGE",
    `The file has ${length} bytes, and ${maxBytes} are the most (UPLOAD_MAX_BYTES).`,
    [],
    { headers: { "tus-max-size": String(maxBytes) } },
  );
}

export function checked(path: string): string {
  try {
    splitPath(path);
    return path;
  } catch (error) {
    if (error instanceof BadStoragePath) throw bad(error.message);
    throw error;
  }
}

function bad(detail: string): Problem {
  return new Problem("BAD_REQUEST", detail);
}

export function uploadMissing(id: string): Problem {
  const detail = `There is no upload ${id}, or no longer: begin it again.`;
  return new Problem("UPLOAD_NOT_FOUND", detail);
}
