/**
 * Handler export.build_package: everything that a version has, as a folder of the gold zone that
 * needs no server.
 *
 *     gold/catalog.json                          the root, with a link to every package
 *     gold/{asset}/v{n}/r{m}/collection.json
 *     gold/{asset}/v{n}/r{m}/manifest.json       every file with its hash
 *     gold/{asset}/v{n}/r{m}/{item}/{item}.json
 *     gold/{asset}/v{n}/r{m}/{item}/…            its files
 */
import { createHash } from "node:crypto";
import path from "node:path";
import { findCollection } from "../../../adapters/postgres/queries/catalogue-collections.ts";
import { itemsOfVersion } from "../../../adapters/postgres/queries/catalogue-items.ts";
import { staticCollection, staticItem } from "../../../core/catalogue/static-catalogue.ts";
import type { PackedFile } from "../../../core/catalogue/static-catalogue.ts";
import type { StacItem } from "../../../core/catalogue/stac.ts";
import { seesAll } from "../../../core/domain/served-version.ts";
import { defineHandler } from "../../define-handler.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";
import { requireDatabase } from "../require-database.ts";
import { linkInRoot, putJson } from "./change-root.ts";
import { copyChecked } from "./copy-file.ts";
import { folderOfRevision, folderOfVersion, manifestName } from "./places.ts";
import { writeTable } from "./write-table.ts";

interface ManifestFile {
  /** Relative to the folder of the package. */
  readonly path: string;
  readonly bytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
}

export const buildPackage = defineHandler("export.build_package", async (params, context) => {
  const database = requireDatabase(context);
  const items = await itemsOfVersion(database, seesAll, params);
  const base = folderOfRevision(params);
  const folder = `gold/${base}`;
  const files: ManifestFile[] = [];
  const add = (name: string, bytes: number, multihash: string) => {
    files.push({ path: name, bytes, sha256: multihash.slice(4) });
  };
  const addJson = async (name: string, value: object) => {
    const bytes = await putJson(context, `${folder}/${name}`, value);
    add(name, bytes.length, `1220${createHash("sha256").update(bytes).digest("hex")}`);
  };

  if (items.length === 0) await packFile(context, params.blob_path, folder, add);
  const collectionId = `${params.asset_id}-v${params.version_ordinal}`;
  const packed: StacItem[] = [];
  for (const [index, item] of items.entries()) {
    const of = `${folder}/${item.id}`;
    const own = [
      ...(await packRasters(context, item, of)),
      ...(await packTables(context, item, of)),
    ];
    for (const file of own) add(`${item.id}/${file.name}`, file.bytes, file.checksum);
    const described = staticItem(item, collectionId, own);
    await addJson(`${item.id}/${item.id}.json`, described);
    packed.push(described);
    context.progress((90 * (index + 1)) / items.length);
  }
  const source =
    items[0] === undefined
      ? undefined
      : await findCollection(database, seesAll, items[0].collection);
  const isMain = (file: ManifestFile) =>
    params.blob_path == null
      ? file.path.endsWith(".parquet")
      : path.posix.basename(file.path) === path.posix.basename(params.blob_path);
  const main = files.filter(isMain);
  if (packed.length > 0) {
    await addJson("collection.json", staticCollection(collectionId, source, packed));
  }
  const { asset_id, version_ordinal, revision } = params;
  const manifest = { asset_id, version_ordinal, revision, files };
  await putJson(context, `${folder}/${manifestName}`, manifest);
  if (packed.length > 0) {
    await linkInRoot(context, "gold", folderOfVersion(params), {
      href: `./${base}/collection.json`,
      title: source?.title ?? collectionId,
    });
  }
  return {
    folder,
    manifest_path: `${folder}/${manifestName}`,
    main_file: main.length === 1 ? (main[0]?.path ?? manifestName) : manifestName,
    file_count: files.length + 1,
    bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
  };
});

/** The file of a version whose workflow catalogues nothing. */
async function packFile(
  context: HandlerContext,
  blobPath: string | null | undefined,
  folder: string,
  add: (name: string, bytes: number, multihash: string) => void,
): Promise<void> {
  if (blobPath == null) {
    throw new PermanentError("The version has no item in the catalogue, and no file.", {
      code: "NOTHING_TO_EXPORT",
    });
  }
  const name = path.posix.basename(blobPath);
  const { bytes, checksum } = await copyChecked(context, blobPath, `${folder}/${name}`);
  add(name, bytes, checksum);
}

async function packRasters(
  context: HandlerContext,
  item: StacItem,
  folder: string,
): Promise<PackedFile[]> {
  const packed: PackedFile[] = [];
  const taken = new Set([`${item.id}.json`]);
  for (const [key, asset] of Object.entries(item.assets)) {
    const source = asset["rmhdag:path"];
    if (source === undefined) continue;
    const plain = path.posix.basename(source);
    const name = taken.has(plain) ? `${key}-${plain}` : plain;
    taken.add(name);
    packed.push({ key, name, ...(await copyChecked(context, source, `${folder}/${name}`)) });
  }
  return packed;
}

async function packTables(
  context: HandlerContext,
  item: StacItem,
  folder: string,
): Promise<PackedFile[]> {
  const tables = Object.entries(item.assets).flatMap(([key, asset]) => {
    const table = asset["rmhdag:table"];
    return table === undefined ? [] : [{ key, table }];
  });
  const packed: PackedFile[] = [];
  for (const { key, table } of tables) {
    for (const format of ["geoparquet", "flatgeobuf"] as const) {
      const written = await writeTable(
        context,
        table,
        format,
        (ending) => `${folder}/${key}${ending}`,
      );
      const { path: stored, bytes, checksum, type } = written;
      packed.push({
        key: tables.length === 1 ? format : `${key}-${format}`,
        name: path.posix.basename(stored),
        bytes,
        checksum,
        type,
        title: `${asset(item, key)} as ${format === "geoparquet" ? "GeoParquet" : "FlatGeobuf"}`,
      });
    }
  }
  return packed;
}

function asset(item: StacItem, key: string): string {
  return item.assets[key]?.title ?? key;
}
