/** Reads areas from GeoJSON: a geometry, a feature or a collection of features. */
import type { SearchGeometry } from "../geometry/geometry.ts";
import { searchGeometry, shapesOf } from "../geometry/geometry.ts";
import type { JsonObject } from "../model/json.ts";
import { isJsonObject } from "../model/json.ts";
import type { Polygon } from "./to-pixels.ts";

export interface Area {
  readonly properties: JsonObject;
  readonly polygons: readonly Polygon[];
}

/** Text: why an area cannot be used. */
export function readAreas(value: unknown): readonly Area[] | string {
  const areas: Area[] = [];
  for (const [index, feature] of featuresOf(value).entries()) {
    const geometry = searchGeometry.safeParse(feature.geometry);
    if (!geometry.success) return `The geometry of area ${index} is no GeoJSON geometry.`;
    const polygons = polygonsOf(geometry.data);
    if (polygons === undefined) {
      return `Area ${index} is a ${geometry.data.type}: only polygons have pixels inside.`;
    }
    areas.push({ properties: feature.properties, polygons });
  }
  return areas;
}

function polygonsOf(geometry: SearchGeometry): readonly Polygon[] | undefined {
  const { points, lines, polygons } = shapesOf(geometry);
  return points.length + lines.length > 0 ? undefined : polygons;
}

/** Features without a geometry are left out. */
function featuresOf(value: unknown): { properties: JsonObject; geometry: unknown }[] {
  if (!isJsonObject(value)) return [];
  const { type, features, geometry, properties } = value;
  if (type === "FeatureCollection") {
    return Array.isArray(features) ? features.flatMap((each) => featuresOf(each)) : [];
  }
  if (type !== "Feature") return [{ properties: {}, geometry: value }];
  if (!isJsonObject(geometry)) return [];
  return [{ properties: isJsonObject(properties) ? properties : {}, geometry }];
}

/** The given features with their statistics, in the order of `readAreas`. */
export function withStatistics(value: unknown, statistics: readonly object[]): unknown {
  const waiting = [...statistics];
  const add = (feature: unknown): unknown => {
    if (!isJsonObject(feature) || !isJsonObject(feature["geometry"])) return feature;
    const before = isJsonObject(feature["properties"]) ? feature["properties"] : {};
    return { ...feature, properties: { ...before, statistics: waiting.shift() ?? {} } };
  };
  if (!isJsonObject(value)) return value;
  const { features } = value;
  return Array.isArray(features) ? { ...value, features: features.map(add) } : add(value);
}
