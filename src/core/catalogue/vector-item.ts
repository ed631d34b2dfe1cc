import type { JsonObject } from "../model/json.ts";
import { rectangle } from "../geometry/boxes.ts";
import type { Bbox } from "../geometry/geometry.ts";
import type { Transformation } from "../raster/transformation.ts";
import type { ItemTime } from "./moment.ts";
import type { Processing } from "./raster-item.ts";
import { describeOperation, itemProperties } from "./raster-item.ts";
import { extensions, stacVersion } from "./stac.ts";
import type { StacItem } from "./stac.ts";

export interface VectorItemFacts {
  readonly collection_id: string;
  readonly item_id: string;
  readonly title?: string | null | undefined;
  /**
   * The bounds of the features in longitude and latitude; west is greater than east across the
   * antimeridian.
   */
  readonly bbox: Bbox;
  readonly time: ItemTime;
  /** The table in schema `geo`. */
  readonly table_name: string;
  readonly feature_count: number;
  readonly geometry_type: string;
  readonly columns?: readonly { readonly name: string; readonly type: string }[] | undefined;
  /** How the features were brought to longitude and latitude on WGS 84. */
  readonly transformation?: Transformation | undefined;
  readonly processing: Processing;
  readonly platform?: Readonly<Record<string, string>> | null | undefined;
  readonly properties?: JsonObject | null | undefined;
}

export function buildVectorItem(given: VectorItemFacts): StacItem {
  const { collection_id, item_id, bbox, table_name, columns = [] } = given;
  return {
    type: "Feature",
    stac_version: stacVersion,
    stac_extensions: [extensions.projection, extensions.processing],
    id: item_id,
    collection: collection_id,
    geometry: rectangle(bbox),
    bbox: [...bbox],
    properties: {
      ...given.properties,
      ...itemProperties(given),
      // Features are stored in longitude and latitude, whatever system they came in.
      "proj:code": "EPSG:4326",
      ...(given.transformation === undefined
        ? {}
        : { "rmhdag:transformation": describeOperation(given.transformation) }),
      "rmhdag:feature_count": given.feature_count,
      "rmhdag:geometry_type": given.geometry_type,
      "rmhdag:columns": columns.map(({ name, type }) => ({ name, type })),
    },
    links: [],
    assets: {
      features: {
        href: `/stac/collections/${collection_id}/items/${item_id}/features`,
        type: "application/geo+json",
        title: "The features",
        roles: ["data"],
        "rmhdag:table": table_name,
      },
    },
  };
}
