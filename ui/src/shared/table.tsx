import type { ReactNode } from "react";

export interface Column<Row> {
  readonly name: string;
  /** Only screen readers get the heading: the cells speak for themselves. */
  readonly unnamed?: boolean;
  /** Aligned to the right. */
  readonly numeric?: boolean;
  /** Hidden on narrow screens. */
  readonly wideOnly?: boolean;
  /** Never wrapped. */
  readonly oneLine?: boolean;
  readonly cell: (row: Row) => ReactNode;
}

/** Every list of the console except that of jobs, whose rows can be selected. */
export function Table<Row>({
  rows,
  keyOf,
  columns,
}: {
  rows: readonly Row[];
  keyOf: (row: Row) => string | number;
  columns: readonly Column<Row>[];
}) {
  return (
    <table>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column.name} className={classOf(column)}>
              {column.unnamed === true ? (
                <span className="visually-hidden">{column.name}</span>
              ) : (
                column.name
              )}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)}>
            {columns.map((column) => (
              <td key={column.name} className={classOf(column)}>
                {column.cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function classOf({
  numeric = false,
  wideOnly = false,
  oneLine = false,
}: Pick<Column<never>, "numeric" | "wideOnly" | "oneLine">): string | undefined {
  const names = [numeric && "num", wideOnly && "wide-only", oneLine && "nowrap"];
  return names.filter(Boolean).join(" ") || undefined;
}
