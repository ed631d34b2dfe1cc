import { rectangle } from "../geometry/boxes.ts";
import type { Bbox } from "../geometry/geometry.ts";
import type { ItemTime } from "./moment.ts";
import type { Processing } from "./raster-item.ts";
import { assetHref, itemProperties } from "./raster-item.ts";
import { extensions, stacVersion } from "./stac.ts";
import type { StacItem } from "./stac.ts";

export interface H3ItemFacts {
  readonly collection_id: string;
  readonly item_id: string;
  readonly title: string;
  readonly bbox: Bbox;
  readonly time: ItemTime;
  readonly raster: string;
  readonly period: string;
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly files: readonly {
    readonly path: string;
    readonly resolution: number;
    readonly row_count: number;
    readonly bytes: number;
    readonly sha256: string;
  }[];
  readonly processing: Processing;
  readonly platform?: Readonly<Record<string, string>> | null | undefined;
}

const parquetTypes: Readonly<Record<string, string>> = {
  text: "byte_array",
  integer: "int32",
  number: "double",
  json: "byte_array",
};

/** The item of a data set by H3 cell, with the table extension: an asset for each resolution. */
export function buildH3Item(given: H3ItemFacts): StacItem {
  const { collection_id, item_id, bbox, files } = given;
  return {
    type: "Feature",
    stac_version: stacVersion,
    stac_extensions: [extensions.table, extensions.file, extensions.processing],
    id: item_id,
    collection: collection_id,
    geometry: rectangle(bbox),
    bbox: [...bbox],
    properties: {
      ...itemProperties(given),
      "table:columns": given.columns.map(({ name, type }) => ({
        name,
        type: parquetTypes[type] ?? type,
      })),
      "table:row_count": files.reduce((sum, { row_count }) => sum + row_count, 0),
      "rmhdag:h3_dataset": given.raster,
      "rmhdag:h3_period": given.period,
    },
    links: [],
    assets: Object.fromEntries(
      files.map((file) => {
        const key = `resolution_${file.resolution}`;
        return [
          key,
          {
            href: assetHref(collection_id, item_id, key),
            type: "application/vnd.apache.parquet",
            title: `H3 cells of resolution ${file.resolution}`,
            roles: ["data"],
            "rmhdag:path": file.path,
            "rmhdag:h3_resolution": file.resolution,
            "table:row_count": file.row_count,
            "file:size": file.bytes,
            "file:checksum": `1220${file.sha256}`,
          },
        ];
      }),
    ),
  };
}
