import type { Json } from "../../model/json.ts";

/** The length of a value as JSON without escapes, and how deep it is nested. */
export interface Weight {
  readonly size: number;
  readonly depth: number;
}

/**
 * Weights of large lists and objects. A fan-out inserts the same value into thousands of parameters,
 * and values never change once they are made, so each is weighed once.
 */
const known = new WeakMap<object, Weight>();
const fewMembers = 64;

/** Deeper values are refused in every place; the limit also protects the stack. */
export const deepest = 64;

/** Thrown inside `weigh` and answered as its result. */
class Over extends Error {}

export type Weighed = Weight | "too deep" | "too large";

/** Weighs a value; stops when it is larger than `most` characters or nested deeper than `levels`. */
export function weigh(value: Json, most: number, levels = deepest): Weighed {
  if (typeof value === "string") {
    return value.length + 2 > most ? "too large" : { size: value.length + 2, depth: 0 };
  }
  if (typeof value !== "object" || value === null) return { size: String(value).length, depth: 0 };
  try {
    return weighObject(value, most, levels);
  } catch (error) {
    if (error instanceof Over) return error.message as "too deep" | "too large";
    throw error;
  }
}

function weighObject(value: object, most: number, levels: number): Weight {
  if (levels === 0) throw new Over("too deep");
  const isArray = Array.isArray(value);
  const keys = isArray ? undefined : Object.keys(value);
  const count = keys?.length ?? (value as readonly Json[]).length;
  const before = count < fewMembers ? undefined : known.get(value);
  if (before !== undefined) {
    if (before.size > most) throw new Over("too large");
    if (before.depth > levels) throw new Over("too deep");
    return before;
  }
  let size = 2;
  let below = 0;
  for (let at = 0; at < count; at += 1) {
    const key = keys?.[at];
    const child = (
      key === undefined ? (value as readonly Json[])[at] : (value as Record<string, Json>)[key]
    ) as Json;
    size += key === undefined ? 1 : key.length + 4;
    if (typeof child === "string") size += child.length + 2;
    else if (typeof child !== "object" || child === null) size += String(child).length;
    else {
      const weight = weighObject(child, most - size, levels - 1);
      size += weight.size;
      if (weight.depth > below) below = weight.depth;
    }
    if (size > most) throw new Over("too large");
  }
  const weight = { size, depth: below + 1 };
  if (count >= fewMembers) known.set(value, weight);
  return weight;
}
