import type { Json } from "../../model/json.ts";
import type { ParsedTemplate } from "./template.ts";
import { parseTemplate } from "./template.ts";

export type TemplateParser = (value: Json) => ParsedTemplate;

/**
 * Linting and drawing the graph meet the same values: parsing is most of what compiling a large
 * workflow costs, so each value is parsed once. Texts are equal by content, trees by identity.
 */
export function parseOnce(): TemplateParser {
  const known = new Map<Json, ParsedTemplate>();
  return (value) => {
    const before = known.get(value);
    if (before !== undefined) return before;
    const parsed = parseTemplate(value);
    known.set(value, parsed);
    return parsed;
  };
}
