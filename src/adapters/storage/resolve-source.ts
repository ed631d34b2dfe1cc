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
  /** `silver/a.tif`, or `a.tif` in the container `silver`; https; a file on a mount. */
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

export function createSourceResolver(settings: SourceSettings): SourceResolver {
  const zoneOf = (name: string): string => {
    const { containers = {} } = settings;
    return Object.hasOwn(containers, name) ? (containers[name] ?? name) : name;
  };

  async function resolve(text: string): Promise<Source> {
    // oxlint-disable-next-line no-control-regex -- control characters are what it looks for
    if (/[\u0000-\u001f\\]/.test(text)) {
      throw refusePath("A source must not contain control characters or backslashes.");
    }
    // GDAL's virtual file systems: no source is opened by a name that GDAL interprets.
    if (/^\/+vsi/i.test(text)) throw refusePath('A source must not begin with "/vsi".');
    if (text.startsWith("/")) return fileSource(text, settings.mounts);
    if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return httpsSource(text, settings.https);
    const at = text.indexOf("/");
    const name = at < 0 ? text : `${zoneOf(text.slice(0, at))}${text.slice(at)}`;
    return storageSource(settings.storage, name);
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
    localPath: () => storage.localPath(name),
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
    localPath: async () => real ?? text,
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

function refusePath(message: string): BadSource {
  return new BadSource("SOURCE_PATH_NOT_ALLOWED", message);
}
