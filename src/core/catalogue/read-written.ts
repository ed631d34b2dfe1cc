/**
 * Reads an item or a collection that a client wrote, and takes out what answers add: links, addresses
 * of this server, the thumbnail, derived fields. So what a client reads and sends back is unchanged.
 */
import type { z } from "zod";
import { bboxOf } from "../geometry/boxes.ts";
import { simpleGeometry } from "../geometry/geometry.ts";
import type { ProblemItem } from "../errors.ts";
import { Problem } from "../errors.ts";
import type { JsonObject } from "../model/json.ts";
import { isJsonObject } from "../model/json.ts";
import { extensions, stacCollection, stacItem, stacVersion } from "./stac.ts";
import type { StacCollection, StacItem } from "./stac.ts";
import { shownRelations, thumbnailKey } from "./web-map-links.ts";

interface Written {
  /** The server's own address, without a slash at its end. */
  readonly base: string;
  readonly collection_id: string;
  /** The id of the address; undefined for a new item. */
  readonly item_id?: string;
  /** The item as it is stored; undefined for a new one. */
  readonly stored?: StacItem | undefined;
}

/** The relations of links that answers add. */
const ownRelations = new Set([
  ...["root", "self", "parent", "collection", "items"],
  "http://www.opengis.net/def/rel/ogc/1.0/queryables",
  ...shownRelations,
]);

export function readWrittenItem(given: JsonObject, written: Written): StacItem {
  const { base, collection_id, item_id, stored } = written;
  demandSame(given, "collection", collection_id);
  if (item_id !== undefined) demandSame(given, "id", item_id);
  const geometry = simpleGeometry.safeParse(given["geometry"]);
  const bbox = given["bbox"] ?? (geometry.success ? bboxOf(geometry.data) : undefined);
  const assets = Object.entries(isJsonObject(given["assets"]) ? given["assets"] : {});
  const item = parse(stacItem, {
    ...given,
    type: given["type"] ?? "Feature",
    stac_version: versionOf(given),
    stac_extensions: (Array.isArray(given["stac_extensions"]) ? given["stac_extensions"] : [])
      .filter((each) => each !== extensions.webMapLinks)
      .map((each: unknown) =>
        each === extensions.projectionWithEpsg ? extensions.projection : each,
      ),
    id: given["id"] ?? item_id,
    collection: collection_id,
    bbox,
    properties: withoutEpsg(given["properties"] ?? {}),
    links: ownLinks(given, base),
    assets: Object.fromEntries(
      assets
        .filter(([key, asset]) => key !== thumbnailKey || !isOwn(asset, base))
        .map(([key, asset]) => [key, withoutEpsg(relative(asset, base))]),
    ),
  });
  return { ...item, assets: keepSources(item.assets, stored?.assets ?? {}) };
}

export function readWrittenCollection(
  given: JsonObject,
  { base, collection_id }: { readonly base: string; readonly collection_id?: string },
): StacCollection {
  if (collection_id !== undefined) demandSame(given, "id", collection_id);
  return parse(stacCollection, {
    ...given,
    type: given["type"] ?? "Collection",
    stac_version: versionOf(given),
    stac_extensions: given["stac_extensions"] ?? [],
    id: given["id"] ?? collection_id,
    // The extent is computed from the items.
    extent: { spatial: { bbox: [[-180, -90, 180, 90]] }, temporal: { interval: [[null, null]] } },
    links: ownLinks(given, base),
  });
}

/**
 * The fields `rmhdag:…` of assets name files and tables of the platform, which only its own handlers may
 * give to an item. Known ones stay, also where the client left them out.
 */
function keepSources(assets: StacItem["assets"], stored: StacItem["assets"]): StacItem["assets"] {
  return Object.fromEntries(
    Object.entries(assets).map(([key, asset]) => {
      const known = Object.hasOwn(stored, key) ? ownFields(stored[key]) : {};
      for (const [name, value] of Object.entries(ownFields(asset))) {
        if (JSON.stringify(known[name]) === JSON.stringify(value)) continue;
        throw refuse(`/assets/${key}/${name}`, "names a part of the platform: leave it out");
      }
      return [key, { ...asset, ...known }];
    }),
  );
}

function ownFields(asset: object | undefined): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(asset ?? {}).filter(([name]) => name.startsWith("rmhdag:")),
  );
}

function versionOf(given: JsonObject): unknown {
  const { stac_version: version = stacVersion } = given as { stac_version?: unknown };
  return typeof version === "string" && /^1\.[01]\.\d+$/.test(version) ? stacVersion : version;
}

/** The schema checks them afterwards. */
function ownLinks(given: JsonObject, base: string): unknown[] {
  const links = Array.isArray(given["links"]) ? given["links"] : [];
  return links
    .filter((link) => isJsonObject(link) && !ownRelations.has(textOf(link["rel"])))
    .map((link: unknown) => relative(link, base));
}

function relative(given: unknown, base: string): unknown {
  const { href } = (given ?? {}) as { href?: unknown };
  if (typeof href !== "string" || !href.startsWith(`${base}/`)) return given;
  return { ...(given as object), href: href.slice(base.length) };
}

function isOwn(asset: unknown, base: string): boolean {
  const { href } = (asset ?? {}) as { href?: unknown };
  return typeof href === "string" && href.startsWith(`${base}/stac/`);
}

function withoutEpsg(fields: unknown): unknown {
  if (!isJsonObject(fields)) return fields;
  const { "proj:epsg": epsg, ...rest } = fields as Record<string, unknown>;
  return epsg === undefined || rest["proj:code"] !== undefined
    ? rest
    : { ...rest, "proj:code": `EPSG:${textOf(epsg)}` };
}

function textOf(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

function demandSame(given: JsonObject, name: string, expected: string): void {
  const value = given[name];
  if (value === undefined || value === expected) return;
  throw refuse(`/${name}`, `must be "${expected}", as in the address`);
}

function parse<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const items = result.error.issues.map(({ path, message }): ProblemItem => ({
    pointer: path.map((part) => `/${String(part)}`).join(""),
    code: "INVALID",
    message,
  }));
  const first = items[0];
  const detail = first === undefined ? "" : `: ${first.pointer || "/"} ${first.message}`;
  throw new Problem("BAD_REQUEST", `This is not valid STAC${detail}.`, items.slice(0, 50));
}

function refuse(pointer: string, message: string): Problem {
  return new Problem("BAD_REQUEST", `${pointer} ${message}.`, [
    { pointer, code: "INVALID", message },
  ]);
}
