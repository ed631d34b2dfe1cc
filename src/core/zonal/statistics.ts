import { z } from "zod";

/** Statistics of the pixels in a polygon, each weighted by the share of it that lies inside. */
export const zonalStatistics = [
  "count",
  "sum",
  "mean",
  "median",
  "stdev",
  "min",
  "max",
  "majority",
  "histogram",
] as const;
export const zonalStatistic = z.enum(zonalStatistics);
export type ZonalStatistic = z.infer<typeof zonalStatistic>;

/** The statistics of measured values; those of categories are asked for by name. */
export const usualStatistics: readonly ZonalStatistic[] = [
  "count",
  "sum",
  "mean",
  "median",
  "stdev",
  "min",
  "max",
];

/** Null: no pixel with data lies in the polygon, or the values for it were not kept. */
export interface ZonalValues extends Readonly<
  Record<Exclude<ZonalStatistic, "count" | "histogram">, number | null>
> {
  /** The sum of the shares. */
  readonly count: number;
  /** By category, ascending: the sum of the shares of its pixels. */
  readonly histogram: readonly (readonly [number, number])[];
}
