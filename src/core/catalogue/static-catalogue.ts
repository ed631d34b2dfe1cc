/**
 * A static STAC catalogue: items, collections and a root as files that refer to each other by
 * relative paths, so a folder with them can be copied anywhere and read without a server.
 */
import { boxesOf } from "../geometry/boxes.ts";
import { extentOf } from "./collection.ts";
import type { Coverage } from "./extent.ts";
import { coverageOf, widen } from "./extent.ts";
import type { StacAsset, StacCollection, StacItem, StacLink } from "./stac.ts";
import { extensions, spanOf, stacVersion } from "./stac.ts";

const json = "application/json";
const geojson = "application/geo+json";

/** A file of the package, beside its item. */
export interface PackedFile {
  readonly key: string;
  /** Relative to the folder of the item. */
  readonly name: string;
  readonly bytes: number;
  /** A multihash. */
  readonly checksum: string;
  /** Of a file that was made for the package; a copied file keeps what its item says. */
  readonly type?: string;
  readonly title?: string;
}

/** Properties and fields that only this platform understands, or that lead into its storage. */
const isInternal = (name: string) => name.startsWith("rmhdag:");

/**
 * Describes an item by the files beside it. Assets without a file are left out: an address of the
 * platform is not part of a folder.
 */
export function staticItem(
  item: StacItem,
  collectionId: string,
  files: readonly PackedFile[],
): StacItem {
  const properties = withoutInternal(item.properties) as StacItem["properties"];
  return {
    ...item,
    collection: collectionId,
    stac_extensions: [...new Set([...item.stac_extensions, extensions.file])],
    properties,
    links: [
      { rel: "root", href: "../collection.json", type: json },
      { rel: "parent", href: "../collection.json", type: json },
      { rel: "collection", href: "../collection.json", type: json },
    ],
    assets: Object.fromEntries(
      files.map((file) => [file.key, staticAsset(item.assets[file.key], file)]),
    ),
  };
}

function staticAsset(asset: StacAsset | undefined, file: PackedFile): StacAsset {
  return {
    ...(asset === undefined ? { roles: ["data"] } : withoutInternal(asset)),
    href: `./${file.name}`,
    ...(file.type === undefined ? {} : { type: file.type }),
    ...(file.title === undefined ? {} : { title: file.title }),
    "file:size": file.bytes,
    "file:checksum": file.checksum,
  };
}

function withoutInternal(fields: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !isInternal(name)));
}

/** The collection of one version's items, with the words of the collection that they are from. */
export function staticCollection(
  collectionId: string,
  source: StacCollection | undefined,
  items: readonly StacItem[],
): StacCollection {
  const coverage = items
    .map((item) => coverageOf({ boxes: boxesOf(item.bbox), ...spanOf(item) }))
    .reduce<Coverage | null>(widen, null);
  return {
    ...(source ?? {}),
    type: "Collection",
    stac_version: stacVersion,
    stac_extensions: source?.stac_extensions ?? [],
    id: collectionId,
    description: source?.description ?? `The data set ${collectionId}.`,
    license: source?.license ?? "other",
    extent: extentOf(coverage),
    links: [
      { rel: "root", href: "./collection.json", type: json },
      ...items.map(({ id }) => ({ rel: "item", href: `./${id}/${id}.json`, type: geojson })),
    ],
  };
}

export interface StaticRoot {
  readonly type: "Catalog";
  readonly stac_version: string;
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly links: readonly StacLink[];
}

/** The root with one more child, or without it. Children are in the order of their addresses. */
export function changeRoot(
  root: { readonly links: readonly StacLink[] } | undefined,
  folder: string,
  child: { readonly href: string; readonly title: string } | undefined,
): StaticRoot {
  const others = (root?.links ?? []).filter(
    ({ rel, href }) => rel === "child" && !href.startsWith(`./${folder}/`),
  );
  const links = child === undefined ? others : [...others, { rel: "child", type: json, ...child }];
  return {
    type: "Catalog",
    stac_version: stacVersion,
    id: "exports",
    title: "Public data sets",
    description: "Every version of a data set that is public, with its files.",
    links: [
      { rel: "root", href: "./catalog.json", type: json },
      ...links.toSorted((a, b) => (a.href < b.href ? -1 : 1)),
    ],
  };
}
