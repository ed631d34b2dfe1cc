import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import type { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import type { Clock } from "../runtime/clock.ts";
import { systemClock } from "../runtime/clock.ts";
import { readCursor, toCursor } from "./cursor.ts";
import type { S3Settings, S3Zone } from "./s3-client.ts";
import { openS3 } from "./s3-client.ts";
import { copyInParts, largestCopy, toCopySource } from "./s3-copy.ts";
import { asMissing, statusOf } from "./s3-errors.ts";
import { uploadStream } from "./s3-upload.ts";
import type { ListOptions, Storage, StoredObject } from "./storage.ts";
import {
  NotInStorage,
  defaultSignedSeconds,
  largestPage,
  splitPath,
  splitPrefix,
} from "./storage.ts";
import { chunkBytes, pour, writeWhole } from "./transfer.ts";

/** Signatures begin in the past, because the clocks of machines differ. */
const earlierSeconds = 15 * 60;
const longestSeconds = 7 * 24 * 3600;
const beyondTheEnd = 416;

/** S3 and servers that speak it: a zone is a bucket. */
export async function createS3Storage(
  settings: S3Settings,
  clock: Clock = systemClock,
): Promise<Storage> {
  const sdk = await import("@aws-sdk/client-s3");
  const { getSignedUrl } = await import("@aws-sdk/s3-request-presigner");
  const opened = await openS3(settings);

  function locate(name: string): { zone: S3Zone; at: { Bucket: string; Key: string } } {
    const [zone, ...parts] = splitPath(name);
    return { zone: opened[zone], at: { Bucket: opened[zone].bucket, Key: parts.join("/") } };
  }

  async function describe(name: string): Promise<StoredObject> {
    const { zone, at } = locate(name);
    const found = await zone.client.send(new sdk.HeadObjectCommand(at)).catch(asMissing(name));
    return toObject(name, found.ContentLength, found.ETag, found.LastModified);
  }

  async function stream(
    name: string,
    offset = 0,
    length?: number,
    signal?: AbortSignal,
  ): Promise<{ object: StoredObject; body: Readable }> {
    const { zone, at } = locate(name);
    const isPart = offset > 0 || length !== undefined;
    const end = length === undefined ? "" : String(offset + length - 1);
    const answer = await zone.client
      .send(
        new sdk.GetObjectCommand({ ...at, ...(isPart ? { Range: `bytes=${offset}-${end}` } : {}) }),
        signal === undefined ? {} : { abortSignal: signal },
      )
      .catch(asMissing(name));
    // "bytes 0-9/1234": for a range, `ContentLength` is that of the part.
    const total = /\/(\d+)$/.exec(answer.ContentRange ?? "")?.[1] ?? answer.ContentLength;
    const object = toObject(name, Number(total), answer.ETag, answer.LastModified);
    return { object, body: answer.Body as Readable };
  }

  async function listPage(prefix: string, { cursor, limit = largestPage }: ListOptions, by?: "/") {
    const [zone, ...parts] = splitPrefix(prefix);
    const { client, bucket } = opened[zone];
    const page = await client.send(
      new sdk.ListObjectsV2Command({
        Bucket: bucket,
        Prefix: parts.join("/"),
        MaxKeys: Math.max(1, Math.min(limit, largestPage)),
        ...(by === undefined ? {} : { Delimiter: by }),
        ...(cursor === undefined ? {} : { ContinuationToken: readCursor(cursor) }),
      }),
    );
    const token = page.NextContinuationToken ?? "";
    return {
      folders: (page.CommonPrefixes ?? []).map((each) => `${zone}/${each.Prefix ?? ""}`),
      items: (page.Contents ?? []).map(({ Key, Size, ETag, LastModified }) =>
        toObject(`${zone}/${Key ?? ""}`, Size, ETag, LastModified),
      ),
      next_cursor: token === "" ? null : toCursor(token),
    };
  }

  return {
    put: async (name, bytes, options) => {
      const { zone, at } = locate(name);
      const type = options?.contentType === undefined ? {} : { ContentType: options.contentType };
      await zone.client.send(new sdk.PutObjectCommand({ ...at, ...type, Body: bytes }));
    },

    get: async (name) => buffer((await stream(name)).body),

    head: async (name) => {
      locate(name);
      return describe(name).catch((error: unknown) => {
        if (error instanceof NotInStorage) return undefined;
        throw error;
      });
    },

    putFile: async (name, file, options = {}) => {
      const { zone, at } = locate(name);
      const { size } = await stat(file);
      options.signal?.throwIfAborted();
      const body = createReadStream(file, { highWaterMark: chunkBytes });
      await uploadStream(zone, at.Key, body, size, options).finally(() => body.destroy());
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
      const [source, target] = [locate(from), locate(to)];
      const { bytes } = await describe(from);
      if (source.zone.client !== target.zone.client) {
        // No server reads from another one: the bytes pass through this process.
        const { body } = await stream(from);
        await uploadStream(target.zone, target.at.Key, body, bytes);
      } else if (bytes > largestCopy) {
        await copyInParts(target.zone.client, source.at, target.at, bytes);
      } else {
        const CopySource = toCopySource(source.at);
        await target.zone.client.send(new sdk.CopyObjectCommand({ ...target.at, CopySource }));
      }
      return describe(to);
    },

    delete: async (name) => {
      const { zone, at } = locate(name);
      // The server answers the same whether there was an object or not.
      const found = await zone.client
        .send(new sdk.HeadObjectCommand(at))
        .catch((error: unknown) => {
          if (statusOf(error) === 404) return undefined;
          throw error;
        });
      if (found !== undefined) await zone.client.send(new sdk.DeleteObjectCommand(at));
      return found !== undefined;
    },

    list: async (prefix, options = {}) => {
      const { items, next_cursor } = await listPage(prefix, options);
      return { items, next_cursor };
    },

    browse: (folder, options = {}) =>
      listPage(folder.endsWith("/") ? folder : `${folder}/`, options, "/"),

    localPath: async (name) => {
      locate(name);
      return undefined;
    },

    signedUrl: async (name, { seconds = defaultSignedSeconds, method = "GET" } = {}) => {
      const { zone, at } = locate(name);
      const command =
        method === "GET" ? new sdk.GetObjectCommand(at) : new sdk.PutObjectCommand(at);
      return getSignedUrl(zone.client, command, {
        signingDate: new Date(clock.now().getTime() - earlierSeconds * 1000),
        expiresIn: Math.min(seconds + earlierSeconds, longestSeconds),
      });
    },
    /** The server checks the signatures of its URLs itself. */
    checkSignature: async () => false,
  };
}

function toObject(
  path: string,
  bytes: number | undefined,
  etag: string | undefined,
  modified: Date | undefined,
): StoredObject {
  // A listing may tell milliseconds, the header of an object cannot.
  const seconds = Math.floor((modified ?? new Date(0)).getTime() / 1000);
  return {
    path,
    bytes: bytes ?? 0,
    etag: `"${(etag ?? "").replaceAll('"', "")}"`,
    modified_at: new Date(seconds * 1000).toISOString(),
  };
}
