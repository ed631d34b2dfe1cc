/** The fields extension: selects the requested fields, and always those that identify the item. */
import type { JsonObject, Json } from "../model/json.ts";
import { isJsonObject } from "../model/json.ts";

export interface Fields {
  /** Undefined: not given, which is all fields. Null or empty, beside `exclude`: the default fields. */
  readonly include?: readonly string[] | null | undefined;
  readonly exclude: readonly string[];
}

const always = ["type", "stac_version", "id", "collection"];
const defaults = ["geometry", "bbox", "links", "assets", "properties.datetime"];

/** Reads `id,properties.datetime,-geometry`. */
export function readFields(text: string): Fields {
  const names = text.split(",").map((name) => name.trim());
  const plain = names.filter((name) => name !== "" && !name.startsWith("-"));
  return {
    ...(plain.length > 0 && { include: plain.map((name) => name.replace(/^\+/, "")) }),
    exclude: names.filter((name) => name.startsWith("-")).map((name) => name.slice(1)),
  };
}

export function selectFields(item: JsonObject, fields: Fields): JsonObject {
  const { exclude } = fields;
  const include = fields.include ?? [];
  const isDefault = fields.include !== undefined && include.length === 0 && exclude.length > 0;
  const kept =
    include.length === 0 && !isDefault
      ? item
      : [...always, ...(isDefault ? defaults : include)].reduce<JsonObject>((result, name) => {
          const path = name.split(".");
          const value = valueAt(item, path);
          return value === undefined ? result : withValue(result, path, value);
        }, {});
  // A field that is included by its name, or a part of which is, is not excluded.
  const isIncluded = (name: string) =>
    include.some((each) => each === name || each.startsWith(`${name}.`));
  return exclude
    .filter((name) => !always.includes(name) && !isIncluded(name))
    .reduce<JsonObject>((result, name) => without(result, name.split(".")), kept);
}

function valueAt(json: Json, [key, ...rest]: readonly string[]): Json | undefined {
  if (key === undefined) return json;
  const inner = isJsonObject(json) && Object.hasOwn(json, key) ? json[key] : undefined;
  return inner === undefined ? undefined : valueAt(inner, rest);
}

function withValue(
  json: JsonObject,
  [key = "", ...rest]: readonly string[],
  value: Json,
): JsonObject {
  if (rest.length === 0) return { ...json, [key]: value };
  const inner = Object.hasOwn(json, key) ? json[key] : undefined;
  const base = inner !== undefined && isJsonObject(inner) ? inner : {};
  return { ...json, [key]: withValue(base, rest, value) };
}

function without(json: JsonObject, [key = "", ...rest]: readonly string[]): JsonObject {
  if (!Object.hasOwn(json, key)) return json;
  if (rest.length === 0) {
    return Object.fromEntries(Object.entries(json).filter(([name]) => name !== key));
  }
  const inner = json[key];
  return isJsonObject(inner) ? { ...json, [key]: without(inner, rest) } : json;
}
