import type { Readable } from "node:stream";
import type { ApiRequest, Handlers } from "../../adapters/http/handler.ts";
import { Answer } from "../../adapters/http/handler.ts";
import type { UploadRow } from "../../adapters/postgres/repositories/uploads.ts";
import { findUpload, listUploads } from "../../adapters/postgres/repositories/uploads.ts";
import type { Contract } from "../../core/api/contract.ts";
import type { Upload, uploadContracts } from "../../core/api/uploads.ts";
import { Problem } from "../../core/errors.ts";
import type { Checksum } from "../../core/files/upload-headers.ts";
import {
  checksumAlgorithms,
  readChecksum,
  tusVersion,
  writeMetadata,
} from "../../core/files/upload-headers.ts";
import { appendUpload } from "./append-upload.ts";
import { createUpload, uploadMissing } from "./create-upload.ts";
import type { FileDeps } from "./deps.ts";
import { completeDirect, signDirect } from "./direct-upload.ts";
import { discardUpload, finishUpload } from "./finish-upload.ts";

type Headers = Pick<ApiRequest<Contract>, "header">;

/** Resumable uploads by tus 1.0: core, creation, checksum, termination and expiration. */
export function uploadRoutes(deps: FileDeps): Handlers<typeof uploadContracts> {
  const known = async (id: string, platformId: string | undefined): Promise<UploadRow> => {
    const upload = await findUpload(deps.db, id);
    // Another platform's upload is answered like one that does not exist.
    const isTheirs = platformId === undefined || upload?.platform_id === platformId;
    if (upload === undefined || !isTheirs) throw uploadMissing(id);
    return upload;
  };

  return {
    createUpload: async (request) =>
      speakTus(request, async () => {
        const { platform_id, actor } = request.query;
        const created = await createUpload(deps, {
          length: request.header("upload-length"),
          metadata: request.header("upload-metadata"),
          platform_id,
          created_by: actor ?? request.caller?.name ?? "nobody",
        });
        const upload = await finishUpload(deps, created.upload_id);
        const location = `/api/v1/uploads/${upload.upload_id}`;
        return new Answer(toUpload(upload), { headers: { ...tusHeaders(upload), location } });
      }),

    listUploads: async ({ query: { path, platform_id, limit } }) => ({
      items: (
        await listUploads(deps.db, {
          limit,
          ...(path === undefined ? {} : { path }),
          ...(platform_id === undefined ? {} : { platform_id }),
        })
      ).map(toUpload),
      next_cursor: null,
    }),

    getUpload: async (request) => {
      const { upload_id } = request.params;
      await known(upload_id, request.query.platform_id);
      // An orchestrator may have died after the last part and before the file appeared.
      const upload = await withTus(() => finishUpload(deps, upload_id));
      const metadata = writeMetadata(upload.metadata);
      const headers = metadata === "" ? {} : { "upload-metadata": metadata };
      return new Answer(toUpload(upload), { headers: { ...tusHeaders(upload), ...headers } });
    },

    appendUpload: async (request) =>
      speakTus(request, async () => {
        const { upload_id } = request.params;
        await known(upload_id, request.query.platform_id);
        const upload = await appendUpload(deps, upload_id, {
          offset: readOffset(request.header("upload-offset")),
          checksum: checksumOf(request.header("upload-checksum")),
          body: request.body as Readable,
        });
        return new Answer(null, { status: 204, headers: tusHeaders(upload) });
      }),

    signUpload: async ({ params: { upload_id }, query: { platform_id } }) => {
      await known(upload_id, platform_id);
      return signDirect(deps, upload_id);
    },

    completeUpload: async ({ params: { upload_id }, query: { platform_id } }) => {
      await known(upload_id, platform_id);
      return toUpload(await completeDirect(deps, upload_id));
    },

    deleteUpload: async (request) =>
      speakTus(request, async () => {
        const { upload_id } = request.params;
        await known(upload_id, request.query.platform_id);
        await discardUpload(deps, upload_id);
        return new Answer(null, { status: 204, headers: { "tus-resumable": tusVersion } });
      }),
  };
}

/** A client that names no version is taken for one of ours; one of another version is refused. */
async function speakTus(request: Headers, work: () => Promise<Answer>): Promise<Answer> {
  const version = request.header("tus-resumable");
  return withTus(async () => {
    if (version === undefined || version === tusVersion) return work();
    const detail = `This server speaks tus ${tusVersion}, and not ${version}.`;
    throw new Problem("TUS_VERSION", detail, [], { headers: { "tus-version": tusVersion } });
  });
}

/** Every answer of tus names its version, refusals too. */
async function withTus<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { code, message, items } = error;
    throw new Problem(code, message, items, {
      headers: { ...error.headers, "tus-resumable": tusVersion },
    });
  }
}

function tusHeaders({ received, length, expires_at, completed_at }: UploadRow) {
  return {
    "tus-resumable": tusVersion,
    "upload-offset": String(received),
    "upload-length": String(length),
    ...(completed_at === null ? { "upload-expires": expires_at.toUTCString() } : {}),
  };
}

function toUpload(row: UploadRow): Upload {
  return {
    upload_id: row.upload_id,
    path: row.path,
    length: row.length,
    received: row.received,
    sha256: row.sha256,
    platform_id: row.platform_id,
    created_by: row.created_by,
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
    completed_at: row.completed_at?.toISOString() ?? null,
  };
}

function readOffset(header: string | undefined): number {
  if (header !== undefined && /^\d{1,16}$/.test(header)) return Number(header);
  throw new Problem("BAD_REQUEST", "Upload-Offset must be a number of bytes.");
}

function checksumOf(header: string | undefined): Checksum | undefined {
  if (header === undefined) return undefined;
  const checksum = readChecksum(header);
  if (checksum !== undefined) return checksum;
  const names = checksumAlgorithms.join(", ");
  const detail = `Upload-Checksum must be one of ${names} and a digest in Base64.`;
  throw new Problem("BAD_REQUEST", detail);
}
