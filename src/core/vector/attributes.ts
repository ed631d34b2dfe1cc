/**
 * The attributes of a row as GDAL wrote them for COPY: which columns to keep, and which values to
 * repair.
 */
import type { DumpColumn } from "./read-dump.ts";

const nothing = "\\N";

export interface AttributePlan {
  /** Positions in the row, in the table's order. */
  readonly kept: readonly number[];
  readonly dates: ReadonlySet<number>;
  /** Every column is kept and none is a date, so rows are passed on unread. */
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

/** As GDAL writes dates: `2024/01/31`, `2024/01/31 23:59:59.5+02`, `2024-01-31`. */
const written = /^(-?\d{1,6})[/-](\d{1,2})[/-](\d{1,2})(?:[ T]|$)/;

/** Whether PostgreSQL and our clients can hold this date. */
export function isUsableDate(text: string): boolean {
  const match = written.exec(text);
  if (match === null) return false;
  const [year = 0, month = 0, day = 0] = match.slice(1).map(Number);
  if (year < 1 || year > 9999 || month < 1 || month > 12 || day < 1) return false;
  return day <= daysIn(year, month);
}

function daysIn(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}
