import type { JsonObject } from "../model/json.ts";
import { isJsonObject } from "../model/json.ts";
import type { GivenTime } from "./moment.ts";
import type { StacItem } from "./stac.ts";

/** Properties that are read from the file again. */
const derived = new Set([
  "datetime",
  "start_datetime",
  "end_datetime",
  "rmhdag:datetime_source",
  "processing:datetime",
  "processing:software",
  "proj:code",
]);

/** The facts that people and partners stated about an item, which cannot be read from its files. */
export function keptFrom({ collection, id, properties }: StacItem): GivenTime & {
  readonly collection_id: string;
  readonly item_id: string;
  readonly properties: JsonObject;
  readonly render: JsonObject | undefined;
} {
  const kept = Object.entries(properties).filter(([name]) => !derived.has(name));
  const { datetime, start_datetime, end_datetime } = properties;
  const isGiven = properties["rmhdag:datetime_source"] === "given";
  const { renders, ...others } = Object.fromEntries(kept) as JsonObject;
  const render = renders !== undefined && isJsonObject(renders) ? renders["default"] : undefined;
  return {
    collection_id: collection,
    item_id: id,
    properties: others,
    render: render !== undefined && isJsonObject(render) ? render : undefined,
    ...(isGiven ? { datetime, start_datetime, end_datetime } : {}),
  };
}

/** Keeps the statistics of each file that has not changed: they were computed when it was made. */
export function keepBands(rebuilt: StacItem, before: StacItem): StacItem {
  const assets = Object.entries(rebuilt.assets).map(([key, asset]) => {
    const old = Object.hasOwn(before.assets, key) ? before.assets[key] : undefined;
    const isSame = old !== undefined && old["file:checksum"] === asset["file:checksum"];
    return [key, isSame && old["bands"] !== undefined ? { ...asset, bands: old["bands"] } : asset];
  });
  return { ...rebuilt, assets: Object.fromEntries(assets) as StacItem["assets"] };
}
