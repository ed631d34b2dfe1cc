/**
 * Adds `proj:epsg` beside `proj:code`, which GDAL's STACIT reads only since release 3.10. Version 2 of
 * the projection extension does not allow the older field, so the item then names version 1.2.
 */
import { extensions } from "./stac.ts";
import type { StacItem } from "./stac.ts";

export function addEpsg(item: StacItem): StacItem {
  const codes = [item.properties, ...Object.values(item.assets)].map(epsgOf);
  if (codes.every((code) => code === undefined)) return item;
  return {
    ...item,
    stac_extensions: item.stac_extensions.map((each) =>
      each === extensions.projection ? extensions.projectionWithEpsg : each,
    ),
    properties: withEpsg(item.properties),
    assets: Object.fromEntries(
      Object.entries(item.assets).map(([key, asset]) => [key, withEpsg(asset)]),
    ),
  };
}

function withEpsg<Fields extends object>(fields: Fields): Fields {
  const epsg = epsgOf(fields);
  return epsg === undefined ? fields : { ...fields, "proj:epsg": epsg };
}

function epsgOf(fields: object): number | undefined {
  const { "proj:code": code } = fields as { readonly "proj:code"?: unknown };
  const [, number] = /^EPSG:(\d{1,9})$/.exec(typeof code === "string" ? code : "") ?? [];
  return number === undefined ? undefined : Number(number);
}
