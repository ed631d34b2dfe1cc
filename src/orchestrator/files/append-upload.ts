import { createHash, randomUUID } from "node:crypto";
import type { Readable } from "node:stream";
import type { UploadRow } from "../../adapters/postgres/repositories/uploads.ts";
import { confirmBytes, takeUpload } from "../../adapters/postgres/repositories/uploads.ts";
import type { Written } from "../../adapters/storage/staging.ts";
import { BodyTooLong } from "../../adapters/storage/staging.ts";
import { reach } from "../../adapters/runtime/fail-points.ts";
import { Problem } from "../../core/errors.ts";
import type { Checksum } from "../../core/files/upload-headers.ts";
import { uploadMissing } from "./create-upload.ts";
import type { FileDeps } from "./deps.ts";
import { finishUpload } from "./finish-upload.ts";

export interface Part {
  readonly offset: number;
  readonly checksum: Checksum | undefined;
  readonly body: Readable;
}

/** Parts that this process is writing. A client whose connection broke sends again before we notice. */
const writing = new Map<string, { readonly stop: () => void; readonly ended: Promise<unknown> }>();

/**
 * Writes the next part of an upload. What arrived before a break is confirmed, unless the part has a
 * checksum, which must hold for all of it. The last byte finishes the upload.
 */
export async function appendUpload(deps: FileDeps, id: string, part: Part): Promise<UploadRow> {
  const earlier = writing.get(id);
  earlier?.stop();
  await earlier?.ended;
  const writer = randomUUID();
  const upload = await takeUpload(deps.db, id, writer);
  if (upload === undefined) throw uploadMissing(id);
  if (upload.received !== part.offset) {
    const detail = `The part begins at ${part.offset}, and ${upload.received} bytes are confirmed.`;
    throw new Problem("UPLOAD_OFFSET", detail, [], {
      headers: { "upload-offset": String(upload.received) },
    });
  }
  const work = write(deps, upload, writer, part);
  const entry = {
    stop: () => part.body.destroy(new Error("the client sends this part again")),
    ended: work.catch(() => undefined),
  };
  writing.set(id, entry);
  try {
    await work;
  } finally {
    if (writing.get(id) === entry) writing.delete(id);
  }
  return finishUpload(deps, id);
}

async function write(
  { db, uploads }: FileDeps,
  { upload_id, length, received }: UploadRow,
  writer: string,
  { body, checksum }: Part,
): Promise<void> {
  const hash = checksum && createHash(checksum.algorithm);
  const confirm = async (bytes: number) => {
    if (await confirmBytes(db, upload_id, writer, received + bytes)) return;
    throw new Problem("UPLOAD_OFFSET", "Another request sends this upload now.");
  };
  const written = await uploads.staging.write(upload_id, received, body, {
    limit: length - received,
    onBytes: (bytes) => hash?.update(bytes),
    onDurable: async (bytes) => {
      if (hash === undefined) await confirm(bytes);
      reach("upload.part_saved");
    },
  });
  // The rest is read and dropped: the next request on this connection comes behind it.
  if (written.error !== undefined) body.on("error", () => undefined).resume();
  if (checksum !== undefined) refuseDamaged(written, hash?.digest("base64"), checksum);
  await confirm(written.bytes);
  reach("upload.part_confirmed");
  if (written.error instanceof BodyTooLong) {
    throw new Problem("UPLOAD_TOO_LARGE", `The upload was announced with ${length} bytes.`);
  }
  if (written.error !== undefined) throw asError(written.error);
}

function refuseDamaged({ error }: Written, digest: string | undefined, given: Checksum): void {
  if (error !== undefined) throw asError(error);
  if (digest?.replace(/=+$/, "") === given.digest.replace(/=+$/, "")) return;
  const detail = `The ${given.algorithm} of the part is ${digest}: send it again.`;
  throw new Problem("CHECKSUM_MISMATCH", detail);
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
