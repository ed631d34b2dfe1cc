/** Writes layer metadata into the STAC item, where clients of the catalogue read it. */
import type { AssetVersion, ServiceUrls } from "../api/asset-schemas.ts";
import type { LayerMetadata } from "../api/metadata.ts";
import type { StacItem } from "../catalogue/stac.ts";
import { extensions } from "../catalogue/stac.ts";
import type { JsonObject } from "../model/json.ts";

/** The properties of an item that publishing writes. */
const ours = ["title", "description", "keywords", "attribution", "renders"];
/** Holds the former values of these properties, so that unpublishing restores the item. */
const before = "rmhdag:before_metadata";

export function projectToItem(item: StacItem, metadata: LayerMetadata): StacItem {
  const made = withoutMetadata(item);
  const kept = Object.entries(made.properties).filter(([name]) => ours.includes(name));
  const { display_name, description, keywords, attribution } = metadata;
  const render = renderOf(made, metadata);
  const properties = {
    ...made.properties,
    title: display_name,
    ...(description === null ? {} : { description }),
    ...(keywords.length === 0 ? {} : { keywords }),
    ...(attribution === null ? {} : { attribution }),
    ...(render === undefined ? {} : { renders: { default: render } }),
    [before]: Object.fromEntries(kept),
  };
  return {
    ...made,
    stac_extensions:
      render === undefined
        ? made.stac_extensions
        : [...new Set([...made.stac_extensions, extensions.render])],
    properties,
  };
}

/** Restores the item as it was before metadata was published into it. */
export function withoutMetadata(item: StacItem): StacItem {
  const saved = item.properties[before];
  if (typeof saved !== "object" || saved === null) return item;
  const rest = Object.entries(item.properties).filter(
    ([name]) => name !== before && !ours.includes(name),
  );
  const hadRender = Object.hasOwn(saved, "renders");
  return {
    ...item,
    stac_extensions: item.stac_extensions.filter((uri) => hadRender || uri !== extensions.render),
    properties: { ...Object.fromEntries(rest), ...saved } as StacItem["properties"],
  };
}

/** Undefined: the metadata do not say how pixels are shown. */
function renderOf(
  { assets }: StacItem,
  { style, display_name }: LayerMetadata,
): Record<string, unknown> | undefined {
  if (style === null || !Object.hasOwn(assets, "data")) return undefined;
  const { bands, ...others } = style;
  const render = Object.fromEntries(Object.entries(others).filter(([name]) => name !== "vector"));
  if (bands === undefined && Object.keys(render).length === 0) return undefined;
  return {
    assets: [Object.hasOwn(assets, "visual") ? "visual" : "data"],
    title: display_name,
    ...(bands === undefined ? {} : { bidx: bands }),
    ...render,
  };
}

/** Makes the row of the layer catalogue. */
export function catalogLayer(
  version: AssetVersion,
  metadata: LayerMetadata,
  services: readonly ServiceUrls[],
): JsonObject {
  const { display_name, description, attribution, keywords, style, legend } = metadata;
  const { field_metadata, min_zoom, max_zoom, thumbnail } = metadata;
  return {
    display_name,
    description,
    attribution,
    keywords,
    legend,
    field_metadata,
    min_zoom,
    max_zoom,
    thumbnail,
    style: style as unknown as JsonObject | null,
    version_label: version.version_label,
    services: services.map((urls) => ({ ...urls })),
  };
}
