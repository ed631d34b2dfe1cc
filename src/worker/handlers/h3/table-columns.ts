import type { TableColumn } from "../../../adapters/parquet/write-table.ts";
import type { H3Configuration } from "../../../core/h3/configuration.ts";
import type { CellRow } from "../../../adapters/h3/compute-chunk.ts";
import { zonalStatistics } from "../../../core/zonal/statistics.ts";

/** h3_index, resolution, and one column for each statistic, always in the same order. */
export function columnsOf({ statistics }: H3Configuration): TableColumn[] {
  return [
    { name: "h3_index", type: "text" },
    { name: "resolution", type: "integer" },
    ...zonalStatistics
      .filter((name) => statistics.includes(name))
      .map((name) => ({ name, type: name === "histogram" ? "json" : "number" }) as const),
  ];
}

export function columnData(
  columns: readonly TableColumn[],
  rows: readonly CellRow[],
  resolution: number,
): unknown[][] {
  return columns.map(({ name }) =>
    rows.map(({ cell, values }) => {
      if (name === "h3_index") return cell;
      if (name === "resolution") return resolution;
      if (name === "histogram") return histogramText(values.histogram);
      return values[name as "mean"] ?? undefined;
    }),
  );
}

/** An object of JSON with the categories in ascending order. */
function histogramText(histogram: readonly (readonly [number, number])[]): Record<string, number> {
  return Object.fromEntries(histogram);
}
