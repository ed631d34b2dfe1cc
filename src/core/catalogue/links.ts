/** Prepares items and collections for clients: with links, and with absolute addresses. */
import type { Json } from "../model/json.ts";
import type { StacCollection, StacItem, StacLink } from "./stac.ts";
import { addEpsg } from "./epsg.ts";
import { showItem } from "./web-map-links.ts";

const geojson = "application/geo+json";
const json = "application/json";

/**
 * `base` is the platform's address, without a slash at its end. Paths in storage and names of tables
 * are shown to curators only: they contain the ids of jobs, and other clients use the hrefs.
 */
export function linkItem(
  stored: StacItem,
  base: string,
  { curates }: { readonly curates: boolean },
): StacItem {
  const item = addEpsg(stored);
  const collection = `${base}/stac/collections/${item.collection}`;
  const self = `${collection}/items/${item.id}`;
  const shown = showItem(item, self);
  return {
    ...item,
    stac_extensions: [...item.stac_extensions, ...shown.extensions],
    links: [
      { rel: "root", href: `${base}/stac`, type: json },
      { rel: "self", href: self, type: geojson },
      { rel: "parent", href: collection, type: json },
      { rel: "collection", href: collection, type: json },
      ...shown.links,
      ...item.links.map((link) => ({ ...link, href: whole(link.href, base) })),
    ],
    assets: Object.fromEntries(
      Object.entries({ ...item.assets, ...shown.assets }).map(([key, asset]) => {
        const fields = Object.entries(asset).filter(([name]) => curates || !internal.has(name));
        return [key, { ...Object.fromEntries(fields), href: whole(asset.href, base) }];
      }),
    ),
  };
}

const internal = new Set(["rmhdag:path", "rmhdag:table"]);

export function linkCollection(collection: StacCollection, base: string): StacCollection {
  const self = `${base}/stac/collections/${collection.id}`;
  return {
    ...collection,
    links: [
      { rel: "root", href: `${base}/stac`, type: json },
      { rel: "parent", href: `${base}/stac`, type: json },
      { rel: "self", href: self, type: json },
      { rel: "items", href: `${self}/items`, type: geojson },
      {
        rel: "http://www.opengis.net/def/rel/ogc/1.0/queryables",
        href: `${self}/queryables`,
        type: "application/schema+json",
      },
      ...collection.links.map((link) => ({ ...link, href: whole(link.href, base) })),
    ],
  };
}

function whole(href: string, base: string): string {
  return href.startsWith("/") ? `${base}${href}` : href;
}

/** The link to the next page: an address, or the same body with the token in it. */
export function nextLink(
  address: string,
  { method, given }: { readonly method: "GET" | "POST"; readonly given: Asked },
  token: string,
): StacLink {
  const asked: Asked = { ...given, token };
  if (method === "POST") return { rel: "next", href: address, type: geojson, method, body: asked };
  const query = Object.entries(asked)
    .flatMap(([key, value]) => (value === undefined ? [] : [[key, inAddress(value)] as const]))
    .map(([key, text]) => `${encodeURIComponent(key)}=${encodeURIComponent(text)}`);
  return { rel: "next", href: `${address}?${query.join("&")}`, type: geojson, method };
}

type Asked = Readonly<Record<string, Json | undefined>>;

/** Writes a value into an address as it came: lists with commas, deeper values as JSON. */
function inAddress(value: Json): string {
  if (Array.isArray(value)) return value.join(",");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

export const conformance = [
  "https://api.stacspec.org/v1.0.0/core",
  "https://api.stacspec.org/v1.0.0/collections",
  "https://api.stacspec.org/v1.0.0-rc.1/collection-search",
  "https://api.stacspec.org/v1.0.0-rc.1/collection-search#free-text",
  "http://www.opengis.net/spec/ogcapi-common-2/1.0/conf/simple-query",
  "https://api.stacspec.org/v1.0.0/ogcapi-features",
  "https://api.stacspec.org/v1.0.0/item-search",
  "https://api.stacspec.org/v1.0.0/item-search#fields",
  "https://api.stacspec.org/v1.0.0/item-search#sort",
  "https://api.stacspec.org/v1.0.0/item-search#query",
  "https://api.stacspec.org/v1.0.0/item-search#filter",
  "https://api.stacspec.org/v1.0.0/ogcapi-features#fields",
  "https://api.stacspec.org/v1.0.0/ogcapi-features#sort",
  "https://api.stacspec.org/v1.0.0/ogcapi-features#query",
  "https://api.stacspec.org/v1.0.0/ogcapi-features/extensions/transaction",
  "https://api.stacspec.org/v1.0.0/collections/extensions/transaction",
  "http://www.opengis.net/spec/ogcapi-features-4/1.0/conf/simpletx",
  "http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/core",
  "http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/oas30",
  "http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/geojson",
  "http://www.opengis.net/spec/ogcapi-features-3/1.0/conf/filter",
  "http://www.opengis.net/spec/ogcapi-features-3/1.0/conf/features-filter",
  "http://www.opengis.net/spec/cql2/1.0/conf/cql2-text",
  "http://www.opengis.net/spec/cql2/1.0/conf/cql2-json",
  "http://www.opengis.net/spec/cql2/1.0/conf/basic-cql2",
  "http://www.opengis.net/spec/cql2/1.0/conf/advanced-comparison-operators",
  "http://www.opengis.net/spec/cql2/1.0/conf/case-insensitive-comparison",
  "http://www.opengis.net/spec/cql2/1.0/conf/basic-spatial-functions",
  "http://www.opengis.net/spec/cql2/1.0/conf/temporal-functions",
  "http://www.opengis.net/spec/cql2/1.0/conf/arithmetic",
  "http://www.opengis.net/spec/cql2/1.0/conf/property-property",
] as const;

export function landingLinks(base: string): StacLink[] {
  const stac = `${base}/stac`;
  return [
    { rel: "root", href: stac, type: json },
    { rel: "self", href: stac, type: json },
    {
      rel: "service-desc",
      href: `${stac}/api`,
      type: "application/vnd.oai.openapi+json;version=3.1",
    },
    { rel: "service-doc", href: `${base}/api/v1/docs`, type: "text/html" },
    { rel: "conformance", href: `${stac}/conformance`, type: json },
    { rel: "data", href: `${stac}/collections`, type: json },
    { rel: "search", href: `${stac}/search`, type: geojson, method: "GET" },
    { rel: "search", href: `${stac}/search`, type: geojson, method: "POST" },
    {
      rel: "http://www.opengis.net/def/rel/ogc/1.0/queryables",
      href: `${stac}/queryables`,
      type: "application/schema+json",
    },
  ];
}
