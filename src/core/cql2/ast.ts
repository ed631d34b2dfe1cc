/** A filter (OGC CQL2) after parsing: every operator has its operands, every literal its type. */
import type { SearchGeometry } from "../geometry/geometry.ts";
import { Problem } from "../errors.ts";

export const comparisons = ["=", "<>", "<", "<=", ">", ">="] as const;
export type Comparison = (typeof comparisons)[number];

export const arithmetics = ["+", "-", "*", "/", "%", "^"] as const;
export type Arithmetic = (typeof arithmetics)[number];

export const temporals = [
  "t_after",
  "t_before",
  "t_contains",
  "t_disjoint",
  "t_during",
  "t_equals",
  "t_finishedBy",
  "t_finishes",
  "t_intersects",
  "t_meets",
  "t_metBy",
  "t_overlappedBy",
  "t_overlaps",
  "t_startedBy",
  "t_starts",
] as const;
export type Temporal = (typeof temporals)[number];

export type Filter =
  | { readonly kind: "all" | "any"; readonly parts: readonly Filter[] }
  | { readonly kind: "not"; readonly part: Filter }
  | { readonly kind: "constant"; readonly value: boolean }
  | {
      readonly kind: "compare";
      readonly op: Comparison;
      readonly left: Scalar;
      readonly right: Scalar;
    }
  | {
      readonly kind: "between";
      readonly value: Scalar;
      readonly low: Scalar;
      readonly high: Scalar;
    }
  | { readonly kind: "in"; readonly value: Scalar; readonly list: readonly Scalar[] }
  | { readonly kind: "like"; readonly value: Scalar; readonly pattern: Scalar }
  | { readonly kind: "is_null"; readonly value: Scalar }
  | { readonly kind: "intersects"; readonly property: string; readonly geometry: SearchGeometry }
  | { readonly kind: "temporal"; readonly op: Temporal; readonly left: Time; readonly right: Time };

export type Scalar =
  | { readonly kind: "property"; readonly name: string }
  | { readonly kind: "literal"; readonly value: string | number | boolean }
  | { readonly kind: "moment"; readonly at: string }
  | { readonly kind: "casei"; readonly value: Scalar }
  | {
      readonly kind: "arithmetic";
      readonly op: Arithmetic;
      readonly left: Scalar;
      readonly right: Scalar;
    };

/** A property, or a span; null is an open end. */
export type Time =
  | { readonly kind: "property"; readonly name: string }
  | { readonly kind: "span"; readonly start: string | null; readonly end: string | null };

export function invalidFilter(message: string): Problem {
  return new Problem("INVALID_FILTER", message);
}
