import { createHash } from "node:crypto";
import { buffered, storageSource } from "../../adapters/cog/byte-source.ts";
import type { ByteSource } from "../../adapters/cog/byte-source.ts";
import { readTiffStructure } from "../../adapters/cog/read-tiff-structure.ts";
import { NotInStorage } from "../../adapters/storage/storage.ts";
import type { Storage } from "../../adapters/storage/storage.ts";
import { createByteSources } from "../../adapters/tiles/byte-source.ts";
import { listZip } from "../../adapters/zip/list-zip.ts";
import { Problem } from "../../core/errors.ts";
import type { Content } from "../../core/files/detect-content.ts";
import { detectContent, detectedBytes } from "../../core/files/detect-content.ts";
import { recognise } from "../../core/files/recognise.ts";
import type { JsonObject } from "../../core/model/json.ts";
import { checked } from "./create-upload.ts";

/** Reads the beginning of a file, and of an archive its directory; only workers open it with GDAL. */
export async function recogniseFile(storage: Storage, path: string) {
  const head = await storage.head(checked(path));
  const source = await storageSource(storage, path).catch((error: unknown) => {
    if (error instanceof NotInStorage) throw new Problem("NOT_FOUND", error.message);
    throw error;
  });
  const content = detectContent(await source.read(0, detectedBytes));
  const isArchive = content.kind === "binary" && content.name === "zip archive";
  const entries = isArchive ? await listZip(buffered(source)) : [];
  return {
    path,
    bytes: source.size,
    version: createHash("sha256")
      .update(JSON.stringify([path, head?.etag, source.size]))
      .digest("hex")
      .slice(0, 32),
    ...recognise(path, content, entries),
    details: { ...(await detailsOf(storage, path, source, content)), ...filesOf(entries) },
  };
}

async function detailsOf(
  storage: Storage,
  path: string,
  source: ByteSource,
  content: Content,
): Promise<JsonObject> {
  if (content.name !== "GeoTIFF") return {};
  try {
    const {
      images: [main],
    } = await readTiffStructure(source);
    // Loaded with the first file, as the tile server is.
    const { readTiffCrs } = await import("../../adapters/tiles/open-raster.ts");
    const bytes = createByteSources(storage)(path, path, source.size);
    const crs = await readTiffCrs(bytes).catch(() => undefined);
    return {
      width: main.width,
      height: main.height,
      bands: main.samples_per_pixel,
      bits: main.bits_per_sample,
      crs: crs === undefined ? null : `EPSG:${crs}`,
    };
  } catch {
    // A damaged file is still recognised; the workflow says what is wrong with it.
    return {};
  }
}

function filesOf(entries: readonly string[]): JsonObject {
  const files = entries.filter((name) => !name.endsWith("/"));
  return files.length === 0 ? {} : { files: files.length, first_files: files.slice(0, 10) };
}
