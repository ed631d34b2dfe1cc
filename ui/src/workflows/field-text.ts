import type { Json } from "../../../src/core/model/json.ts";
import type { InputDeclaration } from "../../../src/core/model/workflow.ts";

/** A value as the text of its field. */
export function writeField(value: Json | undefined): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The text of a field as a value of its type; an empty one is no value, so the default applies. */
export function readField(
  type: InputDeclaration["type"],
  text: string,
): { readonly value?: Json; readonly problem?: string } {
  if (text.trim() === "") return {};
  if (type === "string") return { value: text };
  try {
    return { value: JSON.parse(text) as Json };
  } catch {
    const form = { integer: "a whole number", number: "a number", boolean: "true or false" };
    const wanted = type === "array" ? "a list: [ … ]" : type === "object" ? "an object: { … }" : form[type];
    return { problem: `This must be ${wanted}.` };
  }
}
