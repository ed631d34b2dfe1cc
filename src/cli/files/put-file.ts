import { createHash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { ApiError } from "../../core/api/api-error.ts";
import type { Client } from "../../core/api/client.ts";
import { sendUpload } from "../../core/api/send-upload.ts";
import { createProgressBar } from "./progress-bar.ts";
import { openSource } from "./open-source.ts";

export interface Connection {
  readonly client: Client;
  readonly baseUrl: string;
  readonly token: string | undefined;
}

export interface PutResult {
  readonly file: string;
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string | undefined;
  /** `unchanged`: the same content was put there before. */
  readonly status: "put" | "resumed" | "unchanged";
}

/** Puts a local file into storage, with a progress bar on a terminal. */
export async function putFile(
  connection: Connection,
  file: string,
  path: string,
  options: { readonly replace?: boolean; readonly quiet?: boolean; readonly signal?: AbortSignal },
): Promise<PutResult> {
  const source = await openSource(file);
  const bar = createProgressBar(path, source.size, options.quiet === true);
  const done = { file, path, bytes: source.size, sha256: source.sha256 };
  try {
    const { resumedAt } = await sendUpload(path, source, {
      ...connection,
      fetch,
      digest: async (bytes) => createHash("sha256").update(bytes).digest("base64"),
      pause: (ms) => pause(ms),
      onProgress: bar.show,
      replace: options.replace,
      signal: options.signal,
    });
    return { ...done, status: resumedAt > 0 ? "resumed" : "put" };
  } catch (error) {
    if (error instanceof ApiError && error.code === "FILE_EXISTS") {
      if (await isThere(connection.client, path, source.sha256)) {
        return { ...done, status: "unchanged" };
      }
    }
    throw error;
  } finally {
    bar.end();
    await source.close();
  }
}

async function isThere(client: Client, path: string, sha256: string | undefined): Promise<boolean> {
  const { items } = await client.listUploads({ query: { path } });
  const last = items.find((each) => each.completed_at !== null);
  return last !== undefined && last.sha256 === sha256;
}
