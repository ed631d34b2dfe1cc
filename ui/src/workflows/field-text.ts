/** The value of an input as the text of its form field, and back. */
import type { Json } from "../../../src/core/model/json.ts";
import type { InputDeclaration } from "../../../src/core/model/workflow.ts";

/** The text of a field for a value. */
export function writeField(value: Json | undefined): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The value of a field by its type. An empty field has none, so the default of the input applies. */
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
    const wanted =
      type === "array" ? "a list: [ … ]" : type === "object" ? "an object: { … }" : form[type];
    return { problem: `This must be ${wanted}.` };
  }
}
