/**
 * Handler stac.register_reference: catalogues a COG or a STAC item of another server, without a copy. Its
 * pixels stay there, and the server of tiles reads them in parts.
 */
import path from "node:path";
import { buffered } from "../../../adapters/cog/byte-source.ts";
import { fetchHead } from "../../../adapters/cog/fetch-head.ts";
import { databaseNow } from "../../../adapters/postgres/queries/blob-assets.ts";
import { ownerOfJob } from "../../../adapters/postgres/queries/catalogue-owners.ts";
import {
  ensureCollection,
  upsertItems,
} from "../../../adapters/postgres/repositories/catalogue.ts";
import { isHttps } from "../../../adapters/storage/https-source.ts";
import type { HttpsSource } from "../../../adapters/storage/https-source.ts";
import { buildCollection } from "../../../core/catalogue/collection.ts";
import { readForeignItem } from "../../../core/catalogue/foreign-item.ts";
import { namesOf } from "../../../core/catalogue/owner.ts";
import { describeFile, describePlace } from "../../../core/catalogue/raster-item.ts";
import { extensions } from "../../../core/catalogue/stac.ts";
import type { StacItem } from "../../../core/catalogue/stac.ts";
import { Problem } from "../../../core/errors.ts";
import { validateCog } from "../../../core/raster/validate-cog.ts";
import { defineHandler } from "../../define-handler.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";
import { requireDatabase } from "../require-database.ts";
import { buildItem, checkItem } from "./build-item.ts";
import { readInfo } from "./describe-raster.ts";
import type { StoredRaster } from "./describe-raster.ts";
import { wholeFootprint } from "./footprints.ts";
import { nameItem } from "./name-item.ts";

const largestItem = 4 * 1024 * 1024;

export const registerReference = defineHandler(
  "stac.register_reference",
  async (params, context) => {
    const database = requireDatabase(context);
    const { collection_id, href } = params;
    const now = new Date(await databaseNow(database)).toISOString();
    const owner = await ownerOfJob(database, context.job_id);
    const item_id = nameItem(context.job_id, owner, { path: new URL(href).pathname, ...params });
    const platform = namesOf(owner) ?? params.platform;
    const isTiff = /\.tiff?$/i.test(new URL(href).pathname);
    const item = isTiff
      ? await describeBare(context, { ...params, item_id, platform }, now)
      : await describeForeign(
          context,
          // Items of operators keep the id that they have elsewhere.
          { ...params, ...(owner?.kind === "version" ? { item_id } : {}) },
          now,
        );
    await ensureCollection(database, buildCollection({ collection_id, license: "other" }), owner);
    await upsertItems(database, collection_id, [item], owner);
    return { collection_id, item_id: item.id, bbox: item.bbox, href: item.assets["data"]?.href };
  },
);

type Params = Parameters<Parameters<typeof defineHandler<"stac.register_reference">>[1]>[0];

async function describeBare(
  context: HandlerContext,
  params: Params & { readonly item_id: string },
  now: string,
): Promise<StacItem> {
  const file = await describeRemote(context, params.href, now);
  const footprint = await wholeFootprint(context, [file]);
  const lineage = `Shown from ${file.path}, without a copy.`;
  return buildItem(context, { ...params, lineage }, [file], footprint);
}

async function describeForeign(
  context: HandlerContext,
  params: Params,
  now: string,
): Promise<StacItem> {
  const source = await openRemote(context, params.href);
  const { item, shown } = readItem(await source.readAll(largestItem), source.display, params);
  const file = await describeRemote(context, shown, now);
  const place = describePlace(await wholeFootprint(context, [file]));
  const { title, roles = ["data"] } = item.assets["data"] ?? {};
  const asset = describeFile(file, file.path, roles.includes("data") ? roles : [...roles, "data"]);
  const own = [extensions.projection, extensions.raster, extensions.file];
  return checkItem({
    ...item,
    stac_extensions: [...new Set([...item.stac_extensions, ...own])],
    properties: {
      ...item.properties,
      ...(params.title == null ? {} : { title: params.title }),
      ...params.properties,
    },
    assets: {
      ...item.assets,
      data: { ...asset, ...place, ...(title === undefined ? {} : { title }) },
    },
  });
}

function readItem(bytes: Uint8Array, display: string, params: Params) {
  try {
    return readForeignItem(JSON.parse(Buffer.from(bytes).toString("utf8")), display, params);
  } catch (error) {
    if (!(error instanceof Problem) && !(error instanceof SyntaxError)) throw error;
    const reason = error instanceof Problem ? error.message : "It is not JSON.";
    throw new PermanentError(
      `"${display}" cannot be catalogued: ${reason} Give the address of a STAC item, or one that ends in .tif.`,
      { code: "ITEM_INVALID" },
    );
  }
}

/** Describes a COG by its directories; its pixels are not read. */
async function describeRemote(
  context: HandlerContext,
  href: string,
  now: string,
): Promise<StoredRaster> {
  const source = await openRemote(context, href);
  const head = await source.head();
  if (head === undefined) {
    throw new PermanentError(`There is no file at "${source.display}".`, {
      code: "SOURCE_NOT_FOUND",
    });
  }
  const { bytes } = head;
  if (bytes === null) {
    throw new PermanentError(
      `The server of "${source.display}" does not tell its size, so it cannot be read in parts.`,
      { code: "SOURCE_NOT_IN_PARTS" },
    );
  }
  const etag = head.etag?.startsWith('"') === true ? head.etag : undefined;
  const file = path.join(context.workDir, "reference.tif");
  const read = (offset: number, length: number) => source.readRange(offset, length, etag);
  const structure = await fetchHead(buffered({ size: bytes, read }), file);
  const { valid, errors } = validateCog(structure, { overviews: false, mask: false });
  if (!valid) {
    throw new PermanentError(
      `"${source.display}" is no COG, so it cannot be shown from where it is: ${errors[0]?.message ?? ""} Submit its address to raster_ingest, which makes a copy.`,
      { code: "NOT_A_COG" },
    );
  }
  const facts = await readInfo(context, file, source.display);
  return { path: source.display, bytes, written_at: now, is_cog: true, facts };
}

async function openRemote(context: HandlerContext, href: string): Promise<HttpsSource> {
  if (href.includes("?") || href.includes("#")) {
    throw new PermanentError(
      "An address that is catalogued has no query: everybody who sees the item sees it. Use a public address, or raster_ingest, which makes a copy.",
      { code: "ADDRESS_HAS_QUERY" },
    );
  }
  const source = await context.sources.resolve(href);
  if (isHttps(source)) return source;
  throw new PermanentError(`"${source.display}" is no address on another server.`, {
    code: "SOURCE_SCHEME_NOT_ALLOWED",
  });
}
