/**
 * Lists the properties that can be filtered by, as the JSON Schema of OGC API Features, from sample
 * items.
 */
import type { Json, JsonObject } from "../model/json.ts";

const fixed: JsonObject = {
  id: { type: "string", title: "The item's id" },
  collection: { type: "string", title: "The collection's id" },
  geometry: { $ref: "https://geojson.org/schema/Geometry.json" },
  datetime: { type: "string", format: "date-time", title: "When it was taken" },
};

export function queryablesOf(
  address: string,
  title: string,
  samples: readonly Readonly<Record<string, unknown>>[],
): JsonObject {
  const types = new Map<string, Set<string>>();
  for (const sample of samples) {
    for (const [name, value] of Object.entries(sample)) {
      const type = typeOf(value);
      if (type === undefined || Object.hasOwn(fixed, name)) continue;
      types.set(name, (types.get(name) ?? new Set()).add(type));
    }
  }
  const found = [...types].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const properties: Record<string, Json> = { ...fixed };
  for (const [name, [...kinds]] of found) {
    properties[name] = { type: kinds.length > 1 ? kinds.toSorted() : (kinds[0] ?? "string") };
  }
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: address,
    type: "object",
    title,
    properties,
    additionalProperties: true,
  };
}

/** Undefined for lists and objects, which cannot be compared. */
function typeOf(value: unknown): string | undefined {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    ? typeof value
    : undefined;
}
