import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { Readable } from "node:stream";
import { KnownError } from "../runtime/known-error.ts";
import type { Storage, StoredObject } from "./storage.ts";
import { NotInStorage, splitPath } from "./storage.ts";
import { pour, writeWhole } from "./transfer.ts";

export interface SignedAddress {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface RemoteStorageOptions {
  /** Asks the orchestrator for an address of one object; undefined: there is no such object. */
  readonly sign: (path: string, method: "GET" | "PUT") => Promise<SignedAddress | undefined>;
}

type Body = Uint8Array | Readable;

/** Not possible through signed addresses. */
class NotOverHttp extends KnownError {
  constructor(what: string) {
    super("NOT_OVER_HTTP", "permanent", `A worker over HTTP cannot ${what}.`);
  }
}

class StorageRefused extends KnownError {
  constructor(category: "transient" | "permanent", message: string) {
    super("STORAGE_REFUSED", category, message);
  }
}

/** Storage as a worker without storage of its own sees it: by addresses that the orchestrator signs. */
export function createRemoteStorage({ sign }: RemoteStorageOptions): Storage {
  async function open(path: string, headers: Record<string, string> = {}): Promise<Response> {
    splitPath(path);
    const address = await sign(path, "GET");
    if (address === undefined) throw new NotInStorage(path);
    const answer = await fetch(address.url, { headers: { ...address.headers, ...headers } });
    if (answer.status === 404) throw new NotInStorage(path);
    return refuse(answer, path);
  }

  async function send(path: string, body: Body, length: number): Promise<StoredObject> {
    splitPath(path);
    const address = await sign(path, "PUT");
    if (address === undefined) throw new NotInStorage(path);
    const answer = await fetch(address.url, {
      method: "PUT",
      headers: { ...address.headers, "content-length": String(length) },
      body,
      // Node asks for it where the body is a stream.
      duplex: "half",
    });
    refuse(answer, path);
    await answer.arrayBuffer();
    return { path, bytes: length, etag: "", modified_at: answer.headers.get("date") ?? "" };
  }

  async function getFile(path: string, file: string, options = {}): Promise<StoredObject> {
    const answer = await open(path);
    const found = describe(path, answer);
    await writeWhole(file, (temporary) => pour(bodyOf(answer), temporary, found.bytes, options));
    return found;
  }

  return {
    put: async (path, bytes) => {
      await send(path, Buffer.from(bytes), bytes.length);
    },
    get: async (path) => new Uint8Array(await (await open(path)).arrayBuffer()),
    head: async (path) => {
      const answer = await open(path, { range: "bytes=0-0" }).catch((error: unknown) => {
        if (error instanceof NotInStorage) return undefined;
        throw error;
      });
      await answer?.body?.cancel();
      return answer && describe(path, answer);
    },
    putFile: async (path, file) => {
      const { size } = await stat(file);
      return send(path, createReadStream(file), size);
    },
    getFile,
    readRange: async (path, offset, length) => {
      if (length <= 0) return new Uint8Array();
      const answer = await open(path, { range: `bytes=${offset}-${offset + length - 1}` });
      return new Uint8Array(await answer.arrayBuffer());
    },
    stream: async (path, range) => {
      const { offset = 0, length } = range ?? {};
      const to = length === undefined ? "" : String(offset + length - 1);
      const answer = await open(
        path,
        range === undefined ? {} : { range: `bytes=${offset}-${to}` },
      );
      return { object: describe(path, answer), body: bodyOf(answer) };
    },
    copy: async (from, to) => {
      const answer = await open(from);
      const { bytes } = describe(from, answer);
      return send(to, bodyOf(answer), bytes);
    },
    delete: () => Promise.reject(new NotOverHttp("delete objects")),
    list: () => Promise.reject(new NotOverHttp("list objects")),
    browse: () => Promise.reject(new NotOverHttp("list objects")),
    localPath: async () => undefined,
    signedUrl: async (path, { method = "GET" } = {}) => {
      const address = await sign(path, method);
      if (address === undefined) throw new NotInStorage(path);
      return address.url;
    },
    checkSignature: async () => false,
  };
}

function refuse(answer: Response, path: string): Response {
  if (answer.ok) return answer;
  const category = answer.status >= 500 || answer.status === 429 ? "transient" : "permanent";
  throw new StorageRefused(category, `Storage answered ${answer.status} for "${path}".`);
}

function bodyOf(answer: Response): Readable {
  return answer.body === null ? Readable.from([]) : Readable.fromWeb(answer.body);
}

function describe(path: string, { headers }: Response): StoredObject {
  const whole = /\/(\d+)$/.exec(headers.get("content-range") ?? "")?.[1];
  return {
    path,
    bytes: Number(whole ?? headers.get("content-length") ?? 0),
    etag: headers.get("etag") ?? "",
    modified_at: new Date(headers.get("last-modified") ?? 0).toISOString(),
  };
}
