/**
 * Reads a STAC item of another catalogue, and makes it one of this: with absolute addresses, without the
 * platform's own fields, and with the asset that is shown under the name `data`.
 */
import { Problem } from "../errors.ts";
import type { JsonObject } from "../model/json.ts";
import { isJsonObject } from "../model/json.ts";
import { readWrittenItem } from "./read-written.ts";
import { fileOfAsset } from "./reference.ts";
import { itemIdFor } from "./stac.ts";
import type { StacItem } from "./stac.ts";

export interface ForeignItem {
  readonly item: StacItem;
  /** The address of the TIFF that is shown. */
  readonly shown: string;
}

interface Wanted {
  readonly collection_id: string;
  readonly item_id?: string | null | undefined;
  /** The name of the asset to show, in the other catalogue. */
  readonly asset?: string | null | undefined;
}

export function readForeignItem(given: unknown, address: string, wanted: Wanted): ForeignItem {
  if (!isJsonObject(given) || given["type"] !== "Feature" || !isJsonObject(given["assets"])) {
    throw new Problem("BAD_REQUEST", "There is no STAC item: it lacks the type Feature or assets.");
  }
  const assets = Object.fromEntries(
    Object.entries(given["assets"]).flatMap(([key, asset]) =>
      isJsonObject(asset) ? [[key, absolute(withoutOwn(asset), address)] as const] : [],
    ),
  );
  const key = wanted.asset ?? chooseAsset(assets);
  const asset = key === undefined || !Object.hasOwn(assets, key) ? undefined : assets[key];
  const shown = asset === undefined ? undefined : fileOfAsset(asset);
  if (key === undefined || asset === undefined || shown === undefined) {
    const named = wanted.asset == null ? "no asset" : `no asset "${wanted.asset}"`;
    const those = Object.keys(assets).join(", ");
    throw new Problem(
      "BAD_REQUEST",
      `The item has ${named} that is a GeoTIFF at an address of the web; it has: ${those}.`,
    );
  }
  const { data } = assets;
  const others = Object.entries(assets).filter(([name]) => name !== key && name !== "data");
  const links = (Array.isArray(given["links"]) ? given["links"] : [])
    .filter(isJsonObject)
    .map((link) => absolute(link, address));
  const properties = isJsonObject(given["properties"]) ? withoutOwn(given["properties"]) : {};
  const id = typeof given["id"] === "string" ? itemIdFor(given["id"]) : undefined;
  const item = readWrittenItem(
    {
      ...given,
      id: wanted.item_id ?? id ?? itemIdFor(address),
      collection: wanted.collection_id,
      properties: properties as JsonObject,
      links: [...links, { rel: "via", href: address, type: "application/geo+json" }] as never,
      assets: {
        ...Object.fromEntries(others),
        ...(data === undefined || key === "data" ? {} : { data_original: data }),
        data: asset,
      } as never,
    },
    { base: "none:", collection_id: wanted.collection_id },
  );
  return { item, shown };
}

/** A TIFF under the name `data`, else one for the eye, else one of data, else any. */
function chooseAsset(assets: Readonly<Record<string, Record<string, unknown>>>) {
  const tiffs = Object.entries(assets).filter(([, asset]) => fileOfAsset(asset) !== undefined);
  const withRole = (role: string) =>
    tiffs.find(([, { roles }]) => Array.isArray(roles) && roles.includes(role));
  const found =
    tiffs.find(([key]) => key === "data") ?? withRole("visual") ?? withRole("data") ?? tiffs[0];
  return found?.[0];
}

/** The fields `rmhdag:…` name parts of this platform. */
function withoutOwn(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !name.startsWith("rmhdag:")));
}

function absolute(fields: Record<string, unknown>, address: string): Record<string, unknown> {
  const { href } = fields;
  if (typeof href !== "string" || !URL.canParse(href, address)) return fields;
  return { ...fields, href: new URL(href, address).href };
}
