/**
 * Files that the catalogue names by their address on another server. They are read in parts, under the
 * same rules as the sources of jobs: allowed hosts, checked addresses, no redirects.
 */
import { LRUCache } from "lru-cache";
import { isAddress } from "../../core/catalogue/reference.ts";
import { Problem } from "../../core/errors.ts";
import { KnownError } from "../runtime/known-error.ts";
import type { HttpsRules } from "./https-source.ts";
import { httpsSource } from "./https-source.ts";
import type { Storage } from "./storage.ts";

/** The part of storage that shows rasters. */
type Readable = Pick<Storage, "readRange" | "localPath"> & {
  head(path: string): Promise<{ readonly bytes: number } | undefined>;
};

const mostKnown = 10_000;

export function withReferencedFiles(storage: Readable, rules: HttpsRules): Readable {
  // The reader asks for the head once, and its parts must be of the same file.
  const etags = new LRUCache<string, string>({ max: mostKnown });

  return {
    head: async (path) => {
      if (!isAddress(path)) return storage.head(path);
      const found = await asProblem(() => httpsSource(path, rules).head());
      if (found === undefined) return undefined;
      if (found.bytes === null) throw unreadable("its server does not tell its size");
      // A weak one does not promise that the bytes are the same.
      if (found.etag?.startsWith('"') === true) etags.set(path, found.etag);
      else etags.delete(path);
      return { bytes: found.bytes };
    },
    localPath: async (path) => (isAddress(path) ? undefined : storage.localPath(path)),
    readRange: async (path, offset, length) => {
      if (!isAddress(path)) return storage.readRange(path, offset, length);
      const etag = etags.get(path);
      return asProblem(() => httpsSource(path, rules).readRange(offset, length, etag));
    },
  };
}

async function asProblem<Result>(read: () => Promise<Result>): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof KnownError)) throw error;
    if (error.category === "transient") throw new Problem("UNAVAILABLE", error.message);
    throw unreadable(error.message.replace(/\.$/, ""));
  }
}

function unreadable(reason: string): Problem {
  return new Problem("LAYER_UNREADABLE", `The layer's file is on another server: ${reason}.`);
}
