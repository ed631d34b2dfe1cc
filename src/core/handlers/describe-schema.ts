/** Contracts in words, for the command line and the console. */
import type { Json, JsonObject } from "../model/json.ts";
import { isJsonObject } from "../model/json.ts";

export interface DescribedField {
  readonly name: string;
  /** Type, whether it must be given, default and description, in one line. */
  readonly text: string;
}

/** The properties of an object's schema; none: anything is allowed. */
export function describeFields(schema: JsonObject): DescribedField[] {
  const properties = isJsonObject(schema["properties"]) ? schema["properties"] : {};
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  return Object.entries(properties).map(([name, field]) => {
    const facts = isJsonObject(field) ? field : {};
    const parts = [typeText(facts)];
    if (required.includes(name) && facts["default"] === undefined) parts.push("required");
    if (facts["default"] !== undefined) {
      parts.push(`${JSON.stringify(facts["default"])} unless given`);
    }
    if (typeof facts["description"] === "string") parts.push(facts["description"]);
    return { name, text: parts.join(", ") };
  });
}

function typeText(schema: JsonObject): string {
  const { type, enum: values } = schema;
  if (Array.isArray(values)) return `one of ${values.join(", ")}`;
  if (typeof type === "string") return type;
  return Array.isArray(type) ? type.join(" or ") : "any";
}

/**
 * A node in YAML with the first example's parameters, or with the required ones as places to fill in.
 * Values are JSON, which is YAML too.
 */
export function exampleNode({
  name,
  params,
  examples,
}: {
  readonly name: string;
  readonly params: JsonObject;
  readonly examples: readonly { readonly params: JsonObject }[];
}): string {
  const required = (params["required"] ?? []) as readonly string[];
  const given: Readonly<Record<string, Json>> =
    examples[0]?.params ?? Object.fromEntries(required.map((key) => [key, "…"]));
  const lines = Object.entries(given).map(
    ([key, value]) =>
      `      ${/^[A-Za-z_]\w*$/.test(key) ? key : JSON.stringify(key)}: ${JSON.stringify(value)}`,
  );
  return [
    "nodes:",
    "  my_node:",
    `    handler: ${name}`,
    ...(lines.length > 0 ? ["    params:", ...lines] : []),
  ].join("\n");
}
