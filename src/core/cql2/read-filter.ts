import type { Json } from "../model/json.ts";
import type { Filter } from "./ast.ts";
import { parseText } from "./parse-text.ts";
import { readFilter } from "./read-json.ts";

export function filterFromText(text: string): Filter {
  return readFilter(parseText(text));
}

export function filterFromJson(json: Json): Filter {
  return readFilter(json);
}
