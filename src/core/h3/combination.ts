/** A data set that is made of others by H3 cell: its profile, and what its columns are computed of. */
import { z } from "zod";
import { bboxSchema } from "../geometry/geometry.ts";
import { period, rasterName, resolution } from "./configuration.ts";
import type { Formula } from "./formula.ts";
import { readFormula } from "./formula.ts";

const name = z
  .string()
  .regex(/^[a-z_][a-z0-9_]{0,62}$/, "must hold only small letters, digits and _");
const formula = z
  .string()
  .min(1)
  .max(2000)
  .superRefine((text, context) => {
    try {
      readFormula(text);
    } catch (error) {
      context.addIssue({ code: "custom", message: reasonOf(error) });
    }
  });

/** The names that formulas use, and the data set that each stands for. */
const h3Datasets = z
  .record(
    name,
    z.union([rasterName, z.strictObject({ dataset: rasterName, period: period.nullish() })]),
  )
  .refine((given) => Object.keys(given).length > 0, { message: "must name a data set" })
  .refine((given) => Object.keys(given).length <= 50, {
    message: "must name at most 50 data sets",
  });
export const h3CombinedSource = z.strictObject({ datasets: h3Datasets });
export type H3CombinedSource = z.infer<typeof h3CombinedSource>;

const column = z.union([
  /** Of the values of the cell itself. */
  z.strictObject({ name, formula }),
  /** The mean of several values of the cell, each with its weight; a missing one does not count. */
  z.strictObject({ name, weights: z.record(formula, z.number().positive()) }),
  /** The mean over the finest cells below the cell, each with the product of its weights. */
  z.strictObject({ name, mean_of: formula, weighted_by: z.array(formula).min(1).max(20) }),
]);
export type CombinedColumn = z.infer<typeof column>;

export const h3Combination = z
  .strictObject({
    columns: z.array(column).min(1).max(100),
    /** Without them, the resolutions that all data sets have. */
    min_resolution: resolution.nullish(),
    max_resolution: resolution.max(10).nullish(),
    /** Cells that all data sets have, or those that any of them has. */
    cells: z.enum(["all", "any"]).default("all"),
    bbox: bboxSchema.nullish(),
  })
  .refine(({ columns }) => new Set(columns.map((each) => each.name)).size === columns.length, {
    message: "two columns have the same name",
  })
  .refine(
    ({ columns }) => columns.every((each) => !["h3_index", "resolution"].includes(each.name)),
    { message: "h3_index and resolution are columns already" },
  );
export type H3Combination = z.infer<typeof h3Combination>;

/** By name: the data set, and its period if one is given. */
export function datasetsOf({ datasets }: H3CombinedSource) {
  return Object.entries(datasets)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([alias, given]) =>
      typeof given === "string"
        ? { alias, dataset: given, period: undefined }
        : { alias, dataset: given.dataset, period: given.period ?? undefined },
    );
}

/** As it was frozen: with the resolutions, and the run that each name stands for. */
export const frozenCombination = z.object({
  ...h3Combination.shape,
  min_resolution: resolution,
  max_resolution: resolution,
  runs: z.record(name, z.string()),
});
export type FrozenCombination = z.infer<typeof frozenCombination>;

/** Names the state of what is combined: another tag means that a data set was computed anew. */
export function combinationTag(
  inputs: readonly { readonly alias: string; readonly run_id: string }[],
): string {
  return inputs
    .map(({ alias, run_id }) => `${alias}=${run_id}`)
    .toSorted()
    .join(" ");
}

/** All formulas of a column; those of weights by their text. */
export function formulasOf(given: CombinedColumn): Formula[] {
  if ("formula" in given) return [readFormula(given.formula)];
  if ("weights" in given) return Object.keys(given.weights).toSorted().map(readFormula);
  return [given.mean_of, ...given.weighted_by].map(readFormula);
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
