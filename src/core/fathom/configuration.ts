/** How the files of a flood data set are named, stacked and merged, and where the results lie. */
import { z } from "zod";
import { namePattern, usualPattern } from "./read-name.ts";

export const datasetName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,99}$/, "must hold only small letters, digits, _ and -");
export const productName = z.string().regex(/^[a-z0-9][a-z0-9_.-]{0,199}$/);
export const placeName = z.string().regex(/^[ns]\d{2}[ew]\d{3}$/, "must be such as n05w010");

export const fathomConfiguration = z.strictObject({
  pattern: namePattern.default(usualPattern),
  /** The bands of a stack, in this order. */
  return_periods: z
    .array(z.number().int().min(1).max(999_999))
    .min(1)
    .max(64)
    .refine((years) => new Set(years).size === years.length, "names a return period twice")
    .default([5, 10, 20, 50, 100, 200, 500, 1000]),
  /** The side of a grid cell whose tiles become one raster. */
  grid_degrees: z.number().int().min(1).max(90).default(5),
});
export type FathomConfiguration = z.infer<typeof fathomConfiguration>;

export type FathomPhase = "stack" | "merge";

export interface FathomKey {
  readonly dataset: string;
  readonly phase: FathomPhase;
  readonly product: string;
  readonly place: string;
}

/** `silver/fathom/global/merge/fluvial-defended-cm-2050/n05w010.tif` */
export function fathomPath({ dataset, phase, product, place }: FathomKey): string {
  return `silver/fathom/${dataset}/${phase}/${product}/${place}.tif`;
}
