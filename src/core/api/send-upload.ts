/**
 * Sends one file by tus, for the command line and the console: in parts with their checksums, again
 * after a break, and from the last confirmed byte on if an earlier attempt with the same content was
 * stopped.
 */
import { errorCatalogue } from "../errors.ts";
import type { ErrorCode } from "../errors.ts";
import { tusVersion, writeMetadata } from "../files/upload-headers.ts";
import { ApiError } from "./api-error.ts";
import type { Client } from "./client.ts";
import { problem } from "./schemas.ts";

export interface UploadSource {
  readonly size: number;
  read(offset: number, length: number): Promise<Uint8Array<ArrayBuffer>>;
  /** Of the whole file, in hexadecimal, if it is known. */
  readonly sha256?: string | undefined;
}

export interface SendOptions {
  readonly client: Pick<Client, "listUploads">;
  readonly baseUrl: string;
  readonly token?: string | undefined;
  readonly fetch: SendFetch;
  /** The SHA-256 of a part in Base64; absent where the platform cannot compute it. */
  readonly digest?: ((bytes: Uint8Array<ArrayBuffer>) => Promise<string>) | undefined;
  readonly pause: (ms: number) => Promise<void>;
  readonly onProgress?: ((bytes: number) => void) | undefined;
  readonly replace?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

export type SendFetch = (
  url: string,
  init: {
    method: string;
    headers: Record<string, string>;
    body?: Uint8Array<ArrayBuffer>;
    signal?: AbortSignal;
  },
) => Promise<{
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
}>;

/** A slow line of 2 Mbit/s sends a part in half a minute. */
const partBytes = 8 * 1024 * 1024;
/** After this many failures in a row without a new byte the upload is given up. */
const mostFailures = 8;
const longestPauseMs = 5000;

/** Resolves when the file is in storage. */
export async function sendUpload(
  path: string,
  source: UploadSource,
  options: SendOptions,
): Promise<{ readonly path: string; readonly resumedAt: number }> {
  const base = options.baseUrl.replace(/\/+$/, "");
  const known = await findEarlier(path, source, options);
  const url = known?.url ?? (await create(path, source, options));
  let offset = known?.received ?? 0;
  const resumedAt = offset;
  options.onProgress?.(offset);
  // All bytes had arrived, and the file had not been checked yet: asking for it does so.
  if (known?.received === source.size) await ask(options, `${base}${url}`, "HEAD", {});
  for (let failures = 0; offset < source.size;) {
    options.signal?.throwIfAborted();
    try {
      const bytes = await source.read(offset, Math.min(partBytes, source.size - offset));
      const digest = await options.digest?.(bytes);
      const answer = await ask(
        options,
        `${base}${url}`,
        "PATCH",
        {
          "content-type": "application/offset+octet-stream",
          "upload-offset": String(offset),
          ...(digest === undefined ? {} : { "upload-checksum": `sha256 ${digest}` }),
        },
        bytes,
      );
      offset = Number(answer.headers.get("upload-offset"));
      failures = 0;
    } catch (error) {
      if (!isTransient(error) || ++failures > mostFailures) throw error;
      options.signal?.throwIfAborted();
      await options.pause(Math.min(longestPauseMs, 200 * 2 ** failures));
      offset = await confirmed(options, `${base}${url}`, error, offset);
    }
    options.onProgress?.(offset);
  }
  return { path, resumedAt };
}

async function create(path: string, source: UploadSource, options: SendOptions): Promise<string> {
  const metadata = {
    path,
    ...(source.sha256 === undefined ? {} : { sha256: source.sha256 }),
    ...(options.replace === true ? { replace: "true" } : {}),
  };
  const made = await ask(options, `${options.baseUrl.replace(/\/+$/, "")}/api/v1/uploads`, "POST", {
    "upload-length": String(source.size),
    "upload-metadata": writeMetadata(metadata),
  });
  return made.headers.get("location") ?? "";
}

/** An upload of the same content to the same path that was not completed. */
async function findEarlier(path: string, { size, sha256 }: UploadSource, { client }: SendOptions) {
  if (sha256 === undefined) return undefined;
  const { items } = await client.listUploads({ query: { path } });
  const found = items.find(
    (each) => each.completed_at === null && each.length === size && each.sha256 === sha256,
  );
  return found && { url: `/api/v1/uploads/${found.upload_id}`, received: found.received };
}

/** How many bytes the server has; an upload that it has dropped fails with the error before. */
async function confirmed(
  options: SendOptions,
  url: string,
  cause: unknown,
  offset: number,
): Promise<number> {
  try {
    return Number((await ask(options, url, "HEAD", {})).headers.get("upload-offset"));
  } catch (error) {
    if (isTransient(error)) return offset;
    throw cause;
  }
}

async function ask(
  { fetch, token, signal }: SendOptions,
  url: string,
  method: string,
  headers: Record<string, string>,
  body?: Uint8Array<ArrayBuffer>,
) {
  const answer = await fetch(url, {
    method,
    headers: {
      ...headers,
      "tus-resumable": tusVersion,
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(body === undefined ? {} : { body }),
    ...(signal === undefined ? {} : { signal }),
  }).catch((cause: unknown) => {
    if (signal?.aborted === true) throw cause;
    throw new ApiError("UNREACHABLE", 0, "The connection broke.", [], { cause });
  });
  if (answer.status >= 400) throw toError(answer.status, await answer.text());
  return answer;
}

function toError(status: number, text: string): ApiError {
  const found = problem.safeParse(parse(text));
  if (!found.success || !Object.hasOwn(errorCatalogue, found.data.code)) {
    return new ApiError("UNREACHABLE", status, `Answered ${status} without saying why.`, []);
  }
  const { code, detail, errors } = found.data;
  return new ApiError(code as ErrorCode, status, detail, errors);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The line, the server, damaged bytes, or another request for the same upload. */
function isTransient(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  const again: readonly number[] = [0, 408, 409, 423, 429, 460];
  return error.code !== "FILE_EXISTS" && (error.status >= 500 || again.includes(error.status));
}
