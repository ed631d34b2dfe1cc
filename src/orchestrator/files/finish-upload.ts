import { createHash } from "node:crypto";
import { pipeline } from "node:stream/promises";
import { recordFiles } from "../../adapters/postgres/repositories/blob-assets.ts";
import type { UploadRow } from "../../adapters/postgres/repositories/uploads.ts";
import {
  completeUpload,
  deleteUpload,
  findOpenEnds,
  findUpload,
} from "../../adapters/postgres/repositories/uploads.ts";
import { reach } from "../../adapters/runtime/fail-points.ts";
import { Problem } from "../../core/errors.ts";
import { refuseTaken, uploadMissing } from "./create-upload.ts";
import type { FileDeps } from "./deps.ts";

/** Uploads that this process is finishing. */
const finishing = new Map<string, Promise<UploadRow>>();

/**
 * Makes a file of an upload that has arrived whole; others stay as they are. A crash may come between
 * any two steps: the next request for the upload, or the next sweep, goes on.
 */
export async function finishUpload(deps: FileDeps, id: string): Promise<UploadRow> {
  const upload = await findUpload(deps.db, id);
  if (upload === undefined) throw uploadMissing(id);
  if (upload.completed_at !== null || upload.received < upload.length) return upload;
  const running = finishing.get(id);
  if (running !== undefined) return running;
  const work = finish(deps, upload).finally(() => finishing.delete(id));
  finishing.set(id, work);
  return work;
}

async function finish(deps: FileDeps, upload: UploadRow): Promise<UploadRow> {
  const { upload_id, path, length, sha256, replaces } = upload;
  const { staging } = deps.uploads;
  const staged = await hashStaged(deps, upload);
  if (staged !== undefined) {
    if (sha256 !== null && staged !== sha256) {
      await discardUpload(deps, upload_id);
      const detail = `The sha256 of the file is ${staged} and not ${sha256}: send it again.`;
      throw new Problem("CHECKSUM_MISMATCH", detail);
    }
    await refuseTaken(deps, path, replaces);
  }
  reach("upload.before_publish");
  const stored =
    (await staging.publish(upload_id, path, length)) ?? (await deps.storage.head(path));
  if (stored?.bytes !== length) {
    await discardUpload(deps, upload_id);
    throw uploadMissing(upload_id);
  }
  reach("upload.published");
  await recordFiles(deps.db, [{ path, bytes: length }]);
  const completed = await completeUpload(deps.db, upload_id);
  if (completed === undefined) throw uploadMissing(upload_id);
  return completed;
}

/** The hash of the staged bytes; undefined if they are published already. */
async function hashStaged(
  { uploads }: FileDeps,
  { upload_id, length }: UploadRow,
): Promise<string | undefined> {
  const hash = createHash("sha256");
  try {
    await pipeline(await uploads.staging.read(upload_id, length), hash);
    return hash.digest("hex");
  } catch (error) {
    if (["ENOENT", "NOT_IN_STORAGE"].includes((error as { code?: string }).code ?? "")) {
      return undefined;
    }
    throw error;
  }
}

/** The row goes last: bytes without a row would stay for ever. */
export async function discardUpload({ db, uploads }: FileDeps, id: string): Promise<void> {
  await uploads.staging.remove(id);
  await deleteUpload(db, id);
}

/** Finishes uploads whose orchestrator died, and forgets those that have expired. */
export async function sweepUploads(
  deps: FileDeps,
  onError: (error: unknown, uploadId: string) => void,
): Promise<void> {
  for (const { upload_id, completed_at, is_expired } of await findOpenEnds(deps.db)) {
    try {
      if (is_expired && completed_at === null) await discardUpload(deps, upload_id);
      else if (is_expired) await deleteUpload(deps.db, upload_id);
      else await finishUpload(deps, upload_id);
    } catch (error) {
      onError(error, upload_id);
    }
  }
}
