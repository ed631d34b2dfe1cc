/**
 * Limits on filters, which come from anyone. Each condition is tested against many rows, and each
 * position of a geometry against the geometry of each of them.
 */
import type { Json } from "../model/json.ts";
import { invalidFilter } from "./ast.ts";

const mostConditions = 500;
const mostListed = 1000;
/** Enough for 10,000 positions of a geometry. */
const mostValues = 50_000;
const deepest = 100;

/** Walks without recursion, so that no nesting overflows the stack. */
export function checkSize(json: Json): Json {
  const open: { readonly json: Json; readonly depth: number }[] = [{ json, depth: 0 }];
  let values = 0;
  let conditions = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { json: here, depth } = next;
    if (typeof here !== "object" || here === null) continue;
    if (depth > deepest) throw invalidFilter("The filter is nested too deeply.");
    if ("op" in here && ++conditions > mostConditions) throw tooManyConditions();
    const parts = Object.values(here) as readonly Json[];
    values += parts.length;
    if (values > mostValues) {
      throw invalidFilter(`The filter has more than ${mostValues} values: simplify it.`);
    }
    for (const part of parts) open.push({ json: part, depth: depth + 1 });
  }
  return json;
}

export function checkConditions(count: number): void {
  if (count > mostConditions) throw tooManyConditions();
}

export function checkList(list: readonly Json[]): readonly Json[] {
  if (list.length <= mostListed) return list;
  throw invalidFilter(`A list has more than ${mostListed} values.`);
}

function tooManyConditions() {
  return invalidFilter(`The filter has more than ${mostConditions} conditions.`);
}
