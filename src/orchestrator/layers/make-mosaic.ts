import type { ItemFilter } from "../../adapters/postgres/queries/catalogue-items.ts";
import { searchItems } from "../../adapters/postgres/queries/catalogue-items.ts";
import type { Queryable } from "../../adapters/postgres/queryable.ts";
import type { Viewer } from "../../core/domain/served-version.ts";
import type { Box } from "../../core/geometry/boxes.ts";
import { layerOfItem, mostSamples } from "../../core/serving/layer-of-item.ts";
import type { MosaicLayer, RasterLayer } from "../../core/serving/layer.ts";

/** Items that one tile is made of, the newest first; TiTiler has the same limit. */
const mostItems = 100;

const world = [-180, -90, 180, 90] as const;

/**
 * Shows the rasters of many items as one layer; with a box, those that overlap it. Undefined: none of
 * the items is a raster that the viewer may see.
 */
export async function makeMosaic(
  db: Queryable,
  viewer: Viewer,
  filter: Pick<ItemFilter, "collections" | "version">,
  title: string,
  box?: Box,
): Promise<MosaicLayer | undefined> {
  const rasters = async (limit: number, boxes?: readonly Box[]): Promise<RasterLayer[]> => {
    const asked = { filter: { ...filter, boxes }, sort: [], limit };
    const { items } = await searchItems(db, viewer, asked);
    return items.flatMap(({ item }) => rastersOf(item));
  };
  const samples = (await rasters(2 * mostSamples)).slice(0, mostSamples);
  const members = box === undefined ? samples : await rasters(mostItems, [box]);
  const [first] = samples;
  if (first === undefined) return undefined;
  return {
    kind: "mosaic",
    title,
    bounds: world,
    style: first.style,
    members,
    samples,
    version_tag: [...members, ...samples]
      .map(({ path, version_tag }) => `${path}@${version_tag}`)
      .join(" "),
  };
}

function rastersOf(item: unknown): readonly RasterLayer[] {
  const layer = layerOfItem(item);
  if (layer?.kind === "mosaic") return layer.members;
  return layer?.kind === "raster" ? [layer] : [];
}
