/** The attributes of a row as GDAL wrote them for COPY: which to keep, and which values to mend. */
import { isUsableDate } from "./dates.ts";
import type { DumpColumn } from "./read-dump.ts";

const nothing = "\\N";

export interface AttributePlan {
  /** Positions in the row, in the table's order. */
  readonly kept: readonly number[];
  readonly dates: ReadonlySet<number>;
  /** Every column stays and none is a date: rows need not be looked at. */
  readonly isVerbatim: boolean;
}

export function planAttributes(
  columns: readonly DumpColumn[],
  empty: ReadonlySet<string>,
): AttributePlan {
  const kept = columns.flatMap((column, index) => (empty.has(column.name) ? [] : [index]));
  const dates = new Set(
    kept.filter(
      (index) => columns[index]?.type === "date" || columns[index]?.type === "timestamptz",
    ),
  );
  return { kept, dates, isVerbatim: kept.length === columns.length && dates.size === 0 };
}

export function mendAttributes(
  plan: AttributePlan,
  row: string,
): { readonly row: string; readonly droppedDates: number } {
  if (plan.isVerbatim) return { row, droppedDates: 0 };
  const values = row.split("\t");
  let droppedDates = 0;
  const kept = plan.kept.map((index) => {
    const value = values[index] ?? nothing;
    if (!plan.dates.has(index) || value === nothing || isUsableDate(value)) return value;
    droppedDates += 1;
    return nothing;
  });
  return { row: kept.join("\t"), droppedDates };
}
