import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { Ajv } from "ajv";
import type { AnySchemaObject, ValidateFunction } from "ajv";
import addFormats from "ajv-formats";

/** STAC's schemas refer to these by address; here it is enough that the values are objects. */
const standIns = [
  "https://geojson.org/schema/Feature.json",
  "https://geojson.org/schema/Geometry.json",
  "https://proj.org/schemas/v0.7/projjson.schema.json",
];

/** Lists the violations of STAC's schemas and of its extensions' in an item or a collection. */
export function stacSchemas(folder: string): (given: object) => string[] {
  const ajv = new Ajv({ strict: false, allErrors: true });
  addFormats.default(ajv);
  for (const format of ["iri", "iri-reference"]) ajv.addFormat(format, true);
  for (const $id of standIns) ajv.addSchema({ $id, type: "object" });
  for (const name of readdirSync(folder).filter((each) => each.endsWith(".json"))) {
    // The copies are of a beta of the version that we write.
    const text = readFileSync(path.join(folder, name), "utf8")
      .replaceAll('"1.1.0-beta.1"', '"1.1.0"')
      .replaceAll("commonjson", "common.json");
    ajv.addSchema(JSON.parse(text) as AnySchemaObject);
  }
  const base = "https://schemas.stacspec.org/v1.1.0-beta.1";
  return (served) => {
    const given = withoutEpsg(served);
    const { type, stac_extensions: extensions = [] } = given as {
      type: string;
      stac_extensions?: string[];
    };
    const core =
      type === "Collection"
        ? `${base}/collection-spec/json-schema/collection.json`
        : `${base}/item-spec/json-schema/item.json`;
    const known = extensions.filter((address) => !/\/(?:render|web-map-links)\//.test(address));
    return [core, ...known].flatMap((address) => check(ajv.getSchema(address), address, given));
  };
}

/**
 * Served items have `proj:epsg` beside `proj:code`, which only version 1.2 of the projection extension
 * allows. Without it they must be valid by version 2.0, whose schema is here.
 */
function withoutEpsg(served: object): object {
  const text = JSON.stringify(served, (key, value: unknown) =>
    key === "proj:epsg" ? undefined : value,
  );
  return JSON.parse(text.replaceAll("projection/v1.2.0/", "projection/v2.0.0/")) as object;
}

function check(schema: ValidateFunction | undefined, address: string, given: object): string[] {
  if (schema === undefined) return [`there is no schema ${address}`];
  if (schema(given)) return [];
  return (schema.errors ?? []).map(
    ({ instancePath, message }) => `${address}: ${instancePath} ${message ?? ""}`,
  );
}
