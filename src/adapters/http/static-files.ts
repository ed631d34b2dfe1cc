/**
 * Serves the files of a folder from memory. The names are listed when the folder is opened, and a
 * request gets one of them or nothing, so that no path of a client reaches the file system. Names
 * below `files/` hold a hash of their content and are cached for ever; clients revalidate all others.
 */
import { createHash } from "node:crypto";
import { readFile, readdir } from "node:fs/promises";
import path from "node:path";
import { cached } from "../runtime/cached.ts";
import { acceptsGzip } from "./compress.ts";
import { Answer } from "./handler.ts";

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".mjs": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".woff2": "font/woff2",
};

type Header = (name: string) => string | undefined;
type Headers = Readonly<Record<string, string>>;

export interface StaticFiles {
  has(name: string): boolean;
  /** Undefined: there is no such file. */
  answer(name: string, header: Header, headers?: Headers): Promise<Answer | undefined>;
}

/** A file in one encoding. */
export interface StaticFile {
  readonly bytes: Uint8Array;
  readonly etag: string;
}

/** A folder that does not exist has no files. */
export async function openStaticFiles(folder: string): Promise<StaticFiles> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const names = new Set(
    entries
      .filter((entry) => entry.isFile())
      .map((entry) =>
        path.relative(folder, path.join(entry.parentPath, entry.name)).replaceAll(path.sep, "/"),
      ),
  );
  const files = new Map<string, Promise<StaticFile>>();

  return {
    has: (name) => names.has(name),
    answer: async (name, header, headers = {}) => {
      if (!names.has(name)) return undefined;
      const isGzipped = names.has(`${name}.gz`) && acceptsGzip(header);
      const stored = isGzipped ? `${name}.gz` : name;
      const file = await cached(files, stored, async () =>
        toStaticFile(await readFile(path.join(folder, stored))),
      );
      const isHashed = name.startsWith("files/");
      return answerFile(file, header, {
        "content-type": types[path.extname(name)] ?? "application/octet-stream",
        "cache-control": isHashed ? "public, max-age=31536000, immutable" : "no-cache",
        ...(isGzipped ? gzipped : {}),
        ...headers,
      });
    },
  };
}

export const gzipped = { "content-encoding": "gzip" };

/** The ETag is of the content: two builds may have files of the same size and time. */
export function toStaticFile(bytes: Uint8Array): StaticFile {
  const digest = createHash("sha256").update(bytes).digest("base64url");
  return { bytes, etag: `"${digest.slice(0, 22)}"` };
}

/** Answers 304 to a client that has the file. */
export function answerFile({ bytes, etag }: StaticFile, header: Header, given: Headers): Answer {
  const headers = { ...given, etag, vary: "accept-encoding" };
  return header("if-none-match") === etag
    ? new Answer(undefined, { status: 304, headers })
    : new Answer(bytes, { headers });
}
