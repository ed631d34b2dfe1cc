import { realpath, stat } from "node:fs/promises";
import path from "node:path";
import { ignoreMissing } from "../runtime/error-code.ts";
import type { HttpsRules } from "./https-source.ts";
import { httpsSource } from "./https-source.ts";
import type { Source } from "./source.ts";
import { BadSource } from "./source.ts";
import type { Storage } from "./storage.ts";
import { NotInStorage, splitPath } from "./storage.ts";
import { pour, writeWhole } from "./transfer.ts";

export interface SourceResolver {
  /** `silver/a.tif`, or `a.tif` in the container `silver`; https; an archive; a file on a mount. */
  resolve(blobPath: string, container?: string): Promise<Source>;
}

export interface SourceSettings {
  readonly storage: Storage;
  readonly https: HttpsRules;
  /** Folders of this machine whose files may be given by their absolute path. */
  readonly mounts: readonly string[];
  /** Zones by the names of their containers, where those differ. */
  readonly containers?: Readonly<Record<string, string>>;
}

/** How many archives may be inside of each other. */
const deepestNesting = 2;

export function createSourceResolver(settings: SourceSettings): SourceResolver {
  const zoneOf = (name: string): string => {
    const { containers = {} } = settings;
    return Object.hasOwn(containers, name) ? (containers[name] ?? name) : name;
  };

  async function resolve(text: string, depth = 0): Promise<Source> {
    // eslint-disable-next-line no-control-regex -- control characters are what it looks for
    if (/[\u0000-\u001f\\]/.test(text)) {
      throw refusePath("A source must not contain control characters or backslashes.");
    }
    if (text.startsWith("/vsicurl/")) return httpsSource(text.slice(9), settings.https);
    if (text.startsWith("/vsi")) return archiveSource(text, depth);
    if (text.startsWith("/")) return fileSource(text, settings.mounts);
    if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return httpsSource(text, settings.https);
    const at = text.indexOf("/");
    const name = at < 0 ? text : `${zoneOf(text.slice(0, at))}${text.slice(at)}`;
    return storageSource(settings.storage, name);
  }

  /** `/vsizip/{archive}/member` or `/vsizip/archive.zip/member`; also tar and gzip. */
  async function archiveSource(text: string, depth: number): Promise<Source> {
    const [, format = "", rest = ""] = /^\/vsi(zip|tar|gzip)\/(.+)$/s.exec(text) ?? [];
    if (format === "" || depth >= deepestNesting) {
      throw refusePath(
        'Of the virtual file systems only "/vsizip/", "/vsitar/" and "/vsigzip/" over a path that is allowed by itself may be used.',
      );
    }
    const { archive, member } = splitArchive(rest, format);
    if (member.split("/").some((part) => part === "..")) {
      throw refusePath('The path inside of an archive must not contain "..".');
    }
    const inner = await resolve(archive, depth + 1);
    const display = `/vsi${format}/${inner.display}${member}`;
    return {
      kind: inner.kind,
      display,
      gdalPath: async () => {
        const path = await inner.gdalPath();
        return format === "gzip" ? `/vsigzip/${path}` : `/vsi${format}/{${path}}${member}`;
      },
      head: () => inner.head(),
      fetchTo: async () => {
        throw new BadSource(
          "SOURCE_NEEDS_UNPACKING",
          `${display} lies in an archive: fetch the archive itself and unpack it.`,
        );
      },
    };
  }

  return {
    resolve: async (blobPath, container) => {
      const isWhole = container === undefined || blobPath.startsWith(`${container}/`);
      // With a container the path is always inside of it, even if it looks like a URL.
      return isWhole
        ? resolve(blobPath)
        : storageSource(settings.storage, `${zoneOf(container)}/${blobPath}`);
    },
  };
}

function storageSource(storage: Storage, name: string): Source {
  splitPath(name);
  return {
    kind: "storage",
    display: name,
    gdalPath: () => storage.gdalPath(name),
    fetchTo: (file, options) => storage.getFile(name, file, options),
    head: () => storage.head(name),
  };
}

/** A file by its absolute path. Links are resolved before the path is compared with the mounts. */
async function fileSource(text: string, mounts: readonly string[]): Promise<Source> {
  const real = await realpath(text).catch(ignoreMissing);
  const roots = await Promise.all(mounts.map((mount) => realpath(mount).catch(ignoreMissing)));
  const isBelow = (at: string) =>
    roots.some((root) => root !== undefined && at.startsWith(root + path.sep));
  // A missing file is refused like a forbidden one, so that callers cannot probe for files.
  if (real === undefined ? !isBelow(path.resolve(text)) : !isBelow(real)) {
    throw refusePath(
      `"${text}" is not below a folder that sources may come from (RMHDAG_SOURCE_MOUNTS).`,
    );
  }
  const found = async () => {
    const facts = await stat(text).catch(ignoreMissing);
    return facts?.isFile() === true ? facts : undefined;
  };
  return {
    kind: "file",
    display: text,
    gdalPath: async () => real ?? text,
    head: async () => {
      const facts = await found();
      if (facts === undefined) return undefined;
      return { bytes: facts.size, etag: `"${facts.mtimeMs.toString(36)}-${facts.size}"` };
    },
    fetchTo: async (file, options) => {
      const facts = await found();
      if (facts === undefined) throw new NotInStorage(text);
      await writeWhole(file, (temporary) => pour(text, temporary, facts.size, options));
      return { bytes: facts.size };
    },
  };
}

function splitArchive(rest: string, format: string): { archive: string; member: string } {
  if (format === "gzip") return { archive: rest, member: "" };
  const braces = /^\{(.+)\}(\/[^{}]*)?$/s.exec(rest);
  if (braces !== null) return { archive: braces[1] ?? "", member: braces[2] ?? "" };
  const plain = /^(.+?\.(?:zip|kmz|gpkz|tar|tgz|tar\.gz))(\/.*)?$/is.exec(rest);
  return { archive: plain?.[1] ?? rest, member: plain?.[2] ?? "" };
}

function refusePath(message: string): BadSource {
  return new BadSource("SOURCE_PATH_NOT_ALLOWED", message);
}
