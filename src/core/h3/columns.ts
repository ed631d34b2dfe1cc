/** The columns of the files of a computation: h3_index, resolution, and its values in a fixed order. */
import { zonalStatistics } from "../zonal/statistics.ts";
import type { FrozenCombination } from "./combination.ts";
import type { H3Configuration } from "./configuration.ts";
import type { H3VectorConfiguration } from "./vector-configuration.ts";

export interface H3Column {
  readonly name: string;
  readonly type: "text" | "integer" | "number" | "json";
}

export type H3Computation =
  | { readonly kind: "raster"; readonly configuration: H3Configuration }
  | { readonly kind: "vector"; readonly configuration: H3VectorConfiguration }
  | { readonly kind: "combined"; readonly configuration: FrozenCombination };

export function columnsOf(computation: H3Computation): H3Column[] {
  return [
    { name: "h3_index", type: "text" },
    { name: "resolution", type: "integer" },
    ...valuesOf(computation),
  ];
}

function valuesOf({ kind, configuration }: H3Computation): H3Column[] {
  if (kind === "raster") {
    return zonalStatistics
      .filter((name) => configuration.statistics.includes(name))
      .map((name) => ({ name, type: name === "histogram" ? "json" : "number" }));
  }
  if (kind === "combined") {
    return configuration.columns.map(({ name }) => ({ name, type: "number" }));
  }
  const { geometry, weight, category } = configuration;
  return [
    { name: "count", type: "number" },
    ...(geometry === "line" ? [{ name: "length", type: "number" } as const] : []),
    ...(geometry === "polygon" ? [{ name: "area", type: "number" } as const] : []),
    ...(weight == null ? [] : [{ name: "sum", type: "number" } as const]),
    ...(category == null ? [] : [{ name: "categories", type: "json" } as const]),
  ];
}
