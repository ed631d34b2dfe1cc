/**
 * The files of a folder, as they were when it was opened: a request names one of them or nothing,
 * so no path from outside ever reaches the file system. Names below `files/` hold a hash of their
 * content and are cached for ever; everything else is asked for anew.
 */
import { createHash } from "node:crypto";
import { readFile, readdir } from "node:fs/promises";
import path from "node:path";
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

export interface StaticFiles {
  has(name: string): boolean;
  /** Undefined: there is no such file. */
  answer(
    name: string,
    asked: {
      readonly acceptEncoding: string | undefined;
      readonly ifNoneMatch: string | undefined;
      readonly headers?: Readonly<Record<string, string>>;
    },
  ): Promise<Answer | undefined>;
}

interface Loaded {
  readonly bytes: Uint8Array;
  readonly etag: string;
}

/** A folder that is not there has no files. */
export async function openStaticFiles(folder: string): Promise<StaticFiles> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const names = new Set(
    entries
      .filter((entry) => entry.isFile())
      .map((entry) =>
        path.relative(folder, path.join(entry.parentPath, entry.name)).replaceAll(path.sep, "/"),
      ),
  );
  const loaded = new Map<string, Promise<Loaded>>();

  function load(name: string): Promise<Loaded> {
    const known = loaded.get(name);
    if (known !== undefined) return known;
    const reading = readFile(path.join(folder, name)).then((bytes) => ({
      bytes,
      etag: `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`,
    }));
    loaded.set(name, reading);
    reading.catch(() => loaded.delete(name));
    return reading;
  }

  return {
    has: (name) => names.has(name),
    answer: async (name, { acceptEncoding, ifNoneMatch, headers = {} }) => {
      if (!names.has(name)) return undefined;
      const packed = names.has(`${name}.gz`) && /\bgzip\b/.test(acceptEncoding ?? "");
      const { bytes, etag } = await load(packed ? `${name}.gz` : name);
      const sent = {
        "content-type": types[path.extname(name)] ?? "application/octet-stream",
        "cache-control": name.startsWith("files/")
          ? "public, max-age=31536000, immutable"
          : "no-cache",
        etag,
        vary: "accept-encoding",
        ...(packed ? { "content-encoding": "gzip" } : {}),
        ...headers,
      };
      return ifNoneMatch === etag
        ? new Answer(undefined, { status: 304, headers: sent })
        : new Answer(bytes, { headers: sent });
    },
  };
}
