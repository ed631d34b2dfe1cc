import type { ReactNode } from "react";

export interface Column<Row> {
  /** Its heading. */
  readonly name: string;
  /** The heading is for those who listen: the column says itself what it is. */
  readonly unnamed?: boolean;
  /** Figures, one below the other. */
  readonly numeric?: boolean;
  /** Left out where the screen is narrow. */
  readonly wideOnly?: boolean;
  /** Kept on one line. */
  readonly oneLine?: boolean;
  readonly cell: (row: Row) => ReactNode;
}

/** Rows of the same kind: every list of the console that is not a job's. */
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
