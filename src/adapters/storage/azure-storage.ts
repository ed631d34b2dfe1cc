import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import type { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import type { BlockBlobClient } from "@azure/storage-blob";
import type { AzureSettings, AzureZone } from "./azure-client.ts";
import { openAzure } from "./azure-client.ts";
import { readCursor, toCursor } from "./cursor.ts";
import {
  NotInStorage,
  defaultSignedSeconds,
  largestPage,
  splitPath,
  splitPrefix,
} from "./storage.ts";
import type { SignedMethod, Storage, StoredObject } from "./storage.ts";
import { chunkBytes, pour, writeWhole } from "./transfer.ts";

/** Blocks of 4 MiB, four at once: a raster of any size passes through 16 MiB of memory. */
const parallelBlocks = 4;

/** Azure Blob Storage: a zone is a container. */
export async function createAzureStorage(settings: AzureSettings): Promise<Storage> {
  const opened = await openAzure(settings);

  function locate(name: string): { blob: BlockBlobClient; zone: AzureZone; key: string } {
    const [zone, ...parts] = splitPath(name);
    const key = parts.join("/");
    return { blob: opened[zone].container.getBlockBlobClient(key), zone: opened[zone], key };
  }

  async function sign(name: string, seconds: number, method?: SignedMethod): Promise<string> {
    const { zone, key } = locate(name);
    return zone.sign(key, seconds, method);
  }

  async function describe(name: string): Promise<StoredObject> {
    const found = await locate(name).blob.getProperties().catch(asMissing(name));
    return toObject(name, found.contentLength, found.etag, found.lastModified);
  }

  async function stream(
    name: string,
    offset = 0,
    length?: number,
    signal?: AbortSignal,
  ): Promise<{ object: StoredObject; body: Readable }> {
    const options = {
      maxRetryRequests: 5,
      ...(signal === undefined ? {} : { abortSignal: signal }),
    };
    const answer = await locate(name).blob.download(offset, length, options).catch(asMissing(name));
    // "bytes 0-9/1234": for a range, `contentLength` is that of the part.
    const total = /\/(\d+)$/.exec(answer.contentRange ?? "")?.[1] ?? answer.contentLength;
    const object = toObject(name, Number(total), answer.etag, answer.lastModified);
    return { object, body: answer.readableStreamBody as Readable };
  }

  return {
    put: async (name, bytes, options) => {
      const { blob } = locate(name);
      await blob.upload(bytes, bytes.byteLength, headersFor(options?.contentType));
    },

    get: async (name) => {
      const { blob } = locate(name);
      const { contentLength = 0 } = await blob.getProperties().catch(asMissing(name));
      if (contentLength === 0) return new Uint8Array();
      return blob.downloadToBuffer(0, contentLength).catch(asMissing(name));
    },

    head: async (name) => {
      locate(name);
      return describe(name).catch((error: unknown) => {
        if (error instanceof NotInStorage) return undefined;
        throw error;
      });
    },

    putFile: async (name, file, options = {}) => {
      const { blob } = locate(name);
      const { size } = await stat(file);
      const { signal, onProgress } = options;
      signal?.throwIfAborted();
      const body = createReadStream(file, { highWaterMark: chunkBytes });
      const progress = ({ loadedBytes }: { loadedBytes: number }) => {
        onProgress?.(size === 0 ? 1 : Math.min(1, loadedBytes / size));
      };
      // The blob appears when its blocks are committed, so an aborted upload leaves nothing.
      await blob
        .uploadStream(body, chunkBytes, parallelBlocks, {
          ...headersFor(options.contentType),
          ...(signal === undefined ? {} : { abortSignal: signal }),
          onProgress: progress,
        })
        .finally(() => body.destroy());
      return describe(name);
    },

    getFile: async (name, file, options = {}) => {
      const { object, body } = await stream(name, 0, undefined, options.signal);
      await writeWhole(file, (temporary) => pour(body, temporary, object.bytes, options));
      return object;
    },

    readRange: async (name, offset, length) => {
      if (length <= 0) return new Uint8Array();
      const part = await stream(name, offset, length).catch((error: unknown) => {
        if (statusOf(error) === beyondTheEnd) return undefined;
        throw error;
      });
      return part === undefined ? new Uint8Array() : buffer(part.body);
    },

    stream: (name, range) => stream(name, range?.offset, range?.length),

    copy: async (from, to) => {
      const { blob } = locate(to);
      await describe(from);
      const source = await sign(from, defaultSignedSeconds);
      // The service copies by itself, from another account too: no byte passes through this process.
      const copying = await blob.beginCopyFromURL(source, { intervalInMs: 1000 });
      await copying.pollUntilDone();
      return describe(to);
    },

    delete: async (name) => (await locate(name).blob.deleteIfExists()).succeeded,

    list: async (prefix, { cursor, limit = largestPage } = {}) => {
      const [zone, ...parts] = splitPrefix(prefix);
      const pages = opened[zone].container.listBlobsFlat({ prefix: parts.join("/") }).byPage({
        maxPageSize: Math.max(1, Math.min(limit, largestPage)),
        ...(cursor === undefined ? {} : { continuationToken: readCursor(cursor) }),
      });
      for await (const page of pages) {
        const items = page.segment.blobItems.map(({ name, properties }) =>
          toObject(
            `${zone}/${name}`,
            properties.contentLength,
            properties.etag,
            properties.lastModified,
          ),
        );
        const token = page.continuationToken ?? "";
        return { items, next_cursor: token === "" ? null : toCursor(token) };
      }
      return { items: [], next_cursor: null };
    },

    browse: async (folder, { cursor, limit = largestPage } = {}) => {
      const [zone, ...parts] = splitPrefix(folder.endsWith("/") ? folder : `${folder}/`);
      const pages = opened[zone].container
        .listBlobsByHierarchy("/", { prefix: parts.join("/") })
        .byPage({
          maxPageSize: Math.max(1, Math.min(limit, largestPage)),
          ...(cursor === undefined ? {} : { continuationToken: readCursor(cursor) }),
        });
      for await (const { segment, continuationToken: token = "" } of pages) {
        return {
          folders: (segment.blobPrefixes ?? []).map(({ name }) => `${zone}/${name}`),
          items: segment.blobItems.map(
            ({ name, properties: { contentLength, etag, lastModified } }) =>
              toObject(`${zone}/${name}`, contentLength, etag, lastModified),
          ),
          next_cursor: token === "" ? null : toCursor(token),
        };
      }
      return { folders: [], items: [], next_cursor: null };
    },

    localPath: async (name) => {
      locate(name);
      return undefined;
    },
    signedUrl: (name, { seconds = defaultSignedSeconds, method = "GET" } = {}) =>
      sign(name, seconds, method),
    /** The service checks the signatures of its URLs itself. */
    checkSignature: async () => false,
  };
}

const beyondTheEnd = 416;

function toObject(
  path: string,
  bytes: number | undefined,
  etag: string | undefined,
  modified: Date | undefined,
): StoredObject {
  return {
    path,
    bytes: bytes ?? 0,
    // Only a listing gives the ETag without quotes.
    etag: `"${(etag ?? "").replaceAll('"', "")}"`,
    modified_at: (modified ?? new Date(0)).toISOString(),
  };
}

function headersFor(contentType: string | undefined) {
  return contentType === undefined ? {} : { blobHTTPHeaders: { blobContentType: contentType } };
}

function statusOf(error: unknown): number | undefined {
  return (error as { statusCode?: number }).statusCode;
}

function asMissing(name: string) {
  return (error: unknown): never => {
    throw statusOf(error) === 404 ? new NotInStorage(name) : error;
  };
}
