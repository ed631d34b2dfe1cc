import { Readable } from "node:stream";
import type { ApiRequest } from "../../adapters/http/handler.ts";
import { Answer } from "../../adapters/http/handler.ts";
import { BadStoragePath, NotInStorage } from "../../adapters/storage/storage.ts";
import type { Storage } from "../../adapters/storage/storage.ts";
import type { Contract } from "../../core/api/contract.ts";
import { Problem } from "../../core/errors.ts";

const types: ReadonlyMap<string, string> = new Map([
  ["tif", "image/tiff; application=geotiff"],
  ["tiff", "image/tiff; application=geotiff"],
  ["png", "image/png"],
  ["jpg", "image/jpeg"],
  ["webp", "image/webp"],
  ["json", "application/json"],
  ["geojson", "application/geo+json"],
  ["parquet", "application/vnd.apache.parquet"],
  ["gpkg", "application/geopackage+sqlite3"],
  ["fgb", "application/flatgeobuf"],
  ["zip", "application/zip"],
]);

/** Answers with an object of storage, whole or a range, with an ETag; the body is streamed. */
export async function serveStored(
  storage: Storage,
  path: string,
  request: Pick<ApiRequest<Contract>, "header" | "method">,
  options: { readonly cacheControl?: string; readonly contentType?: string | undefined } = {},
): Promise<Answer> {
  const header = (name: string) => request.header(name);
  const found = await storage.head(path).catch(asProblem);
  if (found === undefined) return asProblem(new NotInStorage(path));
  const common = {
    etag: found.etag,
    "last-modified": new Date(found.modified_at).toUTCString(),
    "accept-ranges": "bytes",
    "cache-control": options.cacheControl ?? "private, max-age=300",
  };
  if (header("if-none-match") === found.etag) {
    return new Answer(undefined, { status: 304, headers: common });
  }
  const given = header("if-range");
  const range =
    given === undefined || given === found.etag
      ? parseRange(header("range"), found.bytes)
      : undefined;
  if (range === "unsatisfiable") {
    // The length lets the client ask for a range that exists (RFC 9110, 15.5.17).
    throw new Problem("RANGE_NOT_SATISFIABLE", `The object has ${found.bytes} bytes.`, [], {
      headers: { "content-range": `bytes */${found.bytes}` },
    });
  }
  // For a HEAD the server would read a body to its end and then discard it.
  const isHead = request.method === "HEAD";
  const { object, body } = isHead
    ? { object: found, body: Readable.from([]) }
    : await storage.stream(path, range).catch(asProblem);
  const length = range?.length ?? object.bytes;
  const name = path.slice(path.lastIndexOf("/") + 1);
  const headers = {
    ...common,
    "content-type": options.contentType ?? typeOf(name),
    "content-disposition": `attachment; filename*=UTF-8''${encodeURIComponent(name)}`,
    "content-length": String(length),
    ...(range === undefined
      ? {}
      : {
          "content-range": `bytes ${range.offset}-${range.offset + length - 1}/${object.bytes}`,
        }),
  };
  return new Answer(body, { status: range === undefined ? 200 : 206, headers });
}

/**
 * Reads the range of a `Range` header, cut to the size. Undefined: serve the whole object, as RFC
 * 9110 asks of a server that does not support several ranges, or gets no range of bytes.
 */
function parseRange(
  header: string | undefined,
  size: number,
): { readonly offset: number; readonly length: number } | "unsatisfiable" | undefined {
  const [, from = "", to = ""] = /^bytes=(\d*)-(\d*)$/.exec(header ?? "") ?? [];
  if (from === "" && to === "") return undefined;
  const first = from === "" ? Math.max(0, size - Number(to)) : Number(from);
  const last = from === "" || to === "" ? size - 1 : Math.min(Number(to), size - 1);
  if (from !== "" && to !== "" && Number(to) < Number(from)) return undefined;
  if (first >= size || last < first) return "unsatisfiable";
  return { offset: first, length: last - first + 1 };
}

function typeOf(name: string): string {
  return types.get(name.slice(name.lastIndexOf(".") + 1)) ?? "application/octet-stream";
}

function asProblem(error: unknown): never {
  if (error instanceof NotInStorage || error instanceof BadStoragePath) {
    throw new Problem("NOT_FOUND", error.message);
  }
  throw error;
}
