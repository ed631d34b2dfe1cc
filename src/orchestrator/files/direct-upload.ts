import { randomUUID } from "node:crypto";
import type { UploadRow } from "../../adapters/postgres/repositories/uploads.ts";
import { confirmBytes, takeUpload } from "../../adapters/postgres/repositories/uploads.ts";
import type { DirectStaging } from "../../adapters/storage/staging.ts";
import { Problem } from "../../core/errors.ts";
import { uploadMissing } from "./create-upload.ts";
import type { FileDeps } from "./deps.ts";
import { finishUpload } from "./finish-upload.ts";

/** An address to which the client puts the bytes itself, where the storage has such addresses. */
export async function signDirect(deps: FileDeps, id: string) {
  const url = await directOf(deps).sign(id);
  return { url, method: "PUT" as const, headers: { "x-ms-blob-type": "BlockBlob" } };
}

/** Confirms the bytes that a client put past us, and finishes the upload as any other. */
export async function completeDirect(deps: FileDeps, id: string): Promise<UploadRow> {
  const direct = directOf(deps);
  const writer = randomUUID();
  const upload = await takeUpload(deps.db, id, writer);
  if (upload === undefined) throw uploadMissing(id);
  const { length, received, completed_at } = upload;
  if (completed_at === null && received < length) {
    if (!(await direct.hasAll(id, length))) {
      throw new Problem("UPLOAD_OFFSET", `Not all of the ${length} bytes are at the address.`);
    }
    if (!(await confirmBytes(deps.db, id, writer, length))) {
      throw new Problem("UPLOAD_OFFSET", "Another request sends this upload now.");
    }
  }
  return finishUpload(deps, id);
}

function directOf({ uploads: { staging } }: FileDeps): DirectStaging {
  if (staging.direct !== undefined) return staging.direct;
  throw new Problem(
    "SWITCHED_OFF",
    "Only storage of Azure takes files at an address of its own: send the bytes by PATCH to the upload.",
  );
}
