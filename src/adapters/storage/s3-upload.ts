import type { Readable } from "node:stream";
import type { CompletedPart } from "@aws-sdk/client-s3";
import type { S3Zone } from "./s3-client.ts";
import type { PutOptions, TransferOptions } from "./storage.ts";

/** Smaller parts than 5 MiB are refused, as are more than 10,000 of them. */
const smallestPart = 8 * 1024 * 1024;
const mostParts = 10_000;
/** Four parts at once: a raster of 80 GiB passes through 40 MiB of memory. */
const parallelParts = 4;

/**
 * Stores a stream of known size. The object appears when its parts are completed, so an upload that
 * fails leaves nothing that a reader could see.
 */
export async function uploadStream(
  { client, bucket }: S3Zone,
  key: string,
  body: Readable,
  size: number,
  { contentType, signal, onProgress }: PutOptions & TransferOptions = {},
): Promise<void> {
  const sdk = await import("@aws-sdk/client-s3");
  const at = { Bucket: bucket, Key: key };
  const options = signal === undefined ? {} : { abortSignal: signal };
  const type = contentType === undefined ? {} : { ContentType: contentType };
  const partBytes = Math.max(smallestPart, Math.ceil(size / mostParts));
  if (size <= partBytes) {
    for await (const part of cut(body, partBytes)) {
      await client.send(new sdk.PutObjectCommand({ ...at, ...type, Body: part }), options);
    }
    onProgress?.(1);
    return;
  }

  const created = await client.send(
    new sdk.CreateMultipartUploadCommand({ ...at, ...type }),
    options,
  );
  const upload = { ...at, UploadId: created.UploadId };
  const done: CompletedPart[] = [];
  const sending = new Set<Promise<void>>();
  let sentBytes = 0;
  const sendPart = async (PartNumber: number, Body: Buffer): Promise<void> => {
    const { ETag } = await client.send(
      new sdk.UploadPartCommand({ ...upload, PartNumber, Body }),
      options,
    );
    done.push({ PartNumber, ...(ETag === undefined ? {} : { ETag }) });
    sentBytes += Body.length;
    onProgress?.(sentBytes / size);
  };
  try {
    let number = 0;
    for await (const part of cut(body, partBytes)) {
      signal?.throwIfAborted();
      number += 1;
      const sent: Promise<void> = sendPart(number, part).finally(() => sending.delete(sent));
      // A failure is seen by the next `race` or `all`, not as an unhandled one.
      sent.catch(() => undefined);
      sending.add(sent);
      if (sending.size >= parallelParts) await Promise.race(sending);
    }
    await Promise.all(sending);
    const Parts = done.toSorted((a, b) => (a.PartNumber ?? 0) - (b.PartNumber ?? 0));
    await client.send(
      new sdk.CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } }),
      options,
    );
  } catch (error) {
    await Promise.allSettled(sending);
    // Parts that are not removed here cost money until the bucket's own rule removes them.
    await client.send(new sdk.AbortMultipartUploadCommand(upload)).catch(() => undefined);
    throw error;
  }
}

/** Pieces of one size, the last one smaller; one empty piece of an empty stream. */
async function* cut(body: Readable, size: number): AsyncGenerator<Buffer> {
  let waiting: Buffer[] = [];
  let bytes = 0;
  let isFirst = true;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    let rest = chunk;
    while (bytes + rest.length >= size) {
      yield Buffer.concat([...waiting, rest.subarray(0, size - bytes)]);
      rest = rest.subarray(size - bytes);
      isFirst = false;
      waiting = [];
      bytes = 0;
    }
    if (rest.length > 0) waiting.push(rest);
    bytes += rest.length;
  }
  if (bytes > 0 || isFirst) yield Buffer.concat(waiting);
}
