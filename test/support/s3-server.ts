/**
 * A stand-in of S3 in memory, with what the adapter uses of it: the rules of signatures, parts, ranges
 * and listings are those of the real one. `TEST_S3_URL` runs the same tests on a real server.
 */
import { createHash, randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { findBadSignature } from "./s3-signature.ts";

export interface S3Server {
  readonly url: string;
  /** How many uploads in parts are neither complete nor given up. */
  openUploads(): number;
  stop(): Promise<void>;
}

interface Kept {
  readonly body: Buffer;
  readonly etag: string;
  readonly type: string;
  readonly modified: Date;
}
interface Upload {
  readonly type: string;
  readonly parts: Map<number, Kept>;
}
interface Answer {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body?: Buffer | string;
}

const smallestPart = 5 * 1024 * 1024;

class Refused extends Error {
  readonly status: number;
  constructor(status: number, code: string) {
    super(code);
    this.status = status;
  }
}

export async function startS3Server(): Promise<S3Server> {
  const buckets = new Map<string, Map<string, Kept>>();
  const uploads = new Map<string, Upload>();

  function objectsOf(bucket: string): Map<string, Kept> {
    const objects = buckets.get(bucket);
    if (objects === undefined) throw new Refused(404, "NoSuchBucket");
    return objects;
  }
  function find(bucket: string, key: string): Kept {
    const found = objectsOf(bucket).get(key);
    if (found === undefined) throw new Refused(404, "NoSuchKey");
    return found;
  }
  function findUpload(id: string): Upload {
    const found = uploads.get(id);
    if (found === undefined) throw new Refused(404, "NoSuchUpload");
    return found;
  }
  /** The bytes of a request, or of the object that it copies. */
  function contentOf({ headers }: IncomingMessage, body: Buffer): Buffer {
    const source = headers["x-amz-copy-source"];
    if (source === undefined) return body;
    const [bucket = "", ...key] = decodeURIComponent(String(source)).replace(/^\//, "").split("/");
    const { body: whole } = find(bucket, key.join("/"));
    const range = /^bytes=(\d+)-(\d+)$/.exec(String(headers["x-amz-copy-source-range"] ?? ""));
    return range === null ? whole : whole.subarray(Number(range[1]), Number(range[2]) + 1);
  }

  function answerBucket(method: string, bucket: string, query: URLSearchParams): Answer {
    if (method === "PUT") {
      if (buckets.has(bucket)) throw new Refused(409, "BucketAlreadyOwnedByYou");
      buckets.set(bucket, new Map());
      return {};
    }
    const objects = objectsOf(bucket);
    return method === "HEAD" ? {} : { body: listObjects(objects, query) };
  }

  function complete(bucket: string, key: string, id: string, xml: string): Answer {
    const { parts, type } = findUpload(id);
    const named = [...xml.matchAll(/<Part>(.*?)<\/Part>/gs)].map(([, part = ""]) => ({
      number: Number(/<PartNumber>(\d+)</.exec(part)?.[1]),
      etag: (/<ETag>(.*?)</.exec(part)?.[1] ?? "").replaceAll("&quot;", '"'),
    }));
    const bodies = named.map(({ number, etag }, index) => {
      const part = parts.get(number);
      if (part?.etag !== etag) throw new Refused(400, "InvalidPart");
      if (index > 0 && number <= (named[index - 1]?.number ?? 0)) {
        throw new Refused(400, "InvalidPartOrder");
      }
      const isLast = index === named.length - 1;
      if (!isLast && part.body.length < smallestPart) throw new Refused(400, "EntityTooSmall");
      return part.body;
    });
    if (bodies.length === 0) throw new Refused(400, "MalformedXML");
    objectsOf(bucket).set(key, keep(Buffer.concat(bodies), type));
    uploads.delete(id);
    return { body: tag("CompleteMultipartUploadResult", tag("Key", escape(key))) };
  }

  function answerObject(request: IncomingMessage, at: ObjectAddress, body: Buffer): Answer {
    const { bucket, key, query } = at;
    const id = query.get("uploadId");
    const type = request.headers["content-type"] ?? "binary/octet-stream";
    switch (request.method) {
      case "POST": {
        if (id !== null) return complete(bucket, key, id, body.toString());
        const made = randomUUID();
        uploads.set(made, { type, parts: new Map() });
        return { body: tag("InitiateMultipartUploadResult", tag("UploadId", made)) };
      }
      case "PUT": {
        const kept = keep(contentOf(request, body), type);
        if (id === null) objectsOf(bucket).set(key, kept);
        else findUpload(id).parts.set(Number(query.get("partNumber")), kept);
        const isCopy = request.headers["x-amz-copy-source"] !== undefined;
        const copied = tag("CopyResult", tag("ETag", escape(kept.etag)));
        return { headers: { etag: kept.etag }, ...(isCopy ? { body: copied } : {}) };
      }
      case "DELETE":
        if (id !== null && !uploads.delete(id)) throw new Refused(404, "NoSuchUpload");
        if (id === null) objectsOf(bucket).delete(key);
        return { status: 204 };
      default:
        return read(find(bucket, key), request.headers.range);
    }
  }

  async function answer(request: IncomingMessage): Promise<Answer> {
    const body = await buffer(request);
    const bad = findBadSignature(request, body);
    if (bad !== undefined) throw new Refused(403, bad);
    const { pathname, searchParams: query } = new URL(request.url ?? "/", "http://x");
    const [bucket = "", ...rest] = pathname.slice(1).split("/").map(decodeURIComponent);
    const key = rest.join("/");
    if (key === "") return answerBucket(request.method ?? "", bucket, query);
    return answerObject(request, { bucket, key, query }, body);
  }

  const server = createServer((request, response) => {
    void answer(request)
      .catch((error: unknown): Answer => {
        const { status, message } =
          error instanceof Refused ? error : new Refused(500, String(error));
        return { status, body: tag("Error", tag("Code", message)) };
      })
      .then((given) => {
        send(response, given, request.method === "HEAD");
      });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    openUploads: () => uploads.size,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface ObjectAddress {
  readonly bucket: string;
  readonly key: string;
  readonly query: URLSearchParams;
}

function keep(body: Buffer, type: string): Kept {
  const etag = `"${createHash("md5").update(body).digest("hex")}"`;
  return { body, type, etag, modified: new Date() };
}

function read({ body, etag, type, modified }: Kept, range: string | undefined): Answer {
  const headers = { etag, "content-type": type, "last-modified": modified.toUTCString() };
  const asked = /^bytes=(\d+)-(\d*)$/.exec(range ?? "");
  if (asked === null) return { headers, body };
  const start = Number(asked[1]);
  const end = Math.min(asked[2] === "" ? Infinity : Number(asked[2]), body.length - 1);
  if (start >= body.length) throw new Refused(416, "InvalidRange");
  return {
    status: 206,
    headers: { ...headers, "content-range": `bytes ${start}-${end}/${body.length}` },
    body: body.subarray(start, end + 1),
  };
}

/** By the bytes of the keys; folders count among the keys of a page. */
function listObjects(objects: ReadonlyMap<string, Kept>, query: URLSearchParams): string {
  const prefix = query.get("prefix") ?? "";
  const delimiter = query.get("delimiter") ?? "";
  const after = Buffer.from(query.get("continuation-token") ?? "", "base64").toString();
  const rows = new Map<string, string>();
  for (const [key, kept] of objects) {
    if (!key.startsWith(prefix)) continue;
    const at = delimiter === "" ? -1 : key.indexOf(delimiter, prefix.length);
    const name = at === -1 ? key : key.slice(0, at + 1);
    rows.set(name, at === -1 ? describeObject(key, kept) : describeFolder(name));
  }
  const names = [...rows.keys()]
    .toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    .filter((name) => Buffer.compare(Buffer.from(name), Buffer.from(after)) > 0);
  const page = names.slice(0, Number(query.get("max-keys") ?? 1000));
  const isTruncated = page.length < names.length;
  const token = Buffer.from(page.at(-1) ?? "").toString("base64");
  return tag(
    "ListBucketResult",
    tag("IsTruncated", String(isTruncated)) +
      (isTruncated ? tag("NextContinuationToken", token) : "") +
      page.map((name) => rows.get(name) ?? "").join(""),
  );
}

function describeObject(key: string, { body, etag, modified }: Kept): string {
  const facts = { Key: escape(key), LastModified: modified.toISOString(), ETag: escape(etag) };
  const parts = Object.entries(facts).map(([name, value]) => tag(name, value));
  return tag("Contents", parts.join("") + tag("Size", String(body.length)));
}

function describeFolder(name: string): string {
  return tag("CommonPrefixes", tag("Prefix", escape(name)));
}

function send(response: ServerResponse, { status = 200, headers, body }: Answer, isHead: boolean) {
  const bytes = Buffer.from(body ?? "");
  const type = typeof body === "string" ? { "content-type": "application/xml" } : {};
  response.writeHead(status, { ...type, ...headers, "content-length": bytes.length });
  response.end(isHead ? undefined : bytes);
}

function tag(name: string, content: string): string {
  return `<${name}>${content}</${name}>`;
}

function escape(text: string): string {
  const signs: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return text.replace(/[&<>"]/g, (sign) => signs[sign] ?? sign);
}
