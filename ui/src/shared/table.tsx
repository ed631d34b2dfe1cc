import type { ReactNode } from "react";

export interface Column<Row> {
  readonly name: string;
  /** Only screen readers get the heading: the cells speak for themselves. */
  readonly unnamed?: boolean;
  /** Aligned to the right. */
  readonly numeric?: boolean;
  /** Never wrapped. */
  readonly oneLine?: boolean;
  /** Broken inside words, such as long ids, where the table is too wide. */
  readonly breaks?: boolean;
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
    <TableBox>
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
              <td
                key={column.name}
                className={classOf(column)}
                data-label={column.unnamed === true ? undefined : column.name}
              >
                {column.cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </TableBox>
  );
}

/**
 * A table that loses no column: it scrolls sideways where it is too wide, and on a telephone each row
 * becomes a list of its cells, whose `data-label` is the heading.
 */
export function TableBox({ children }: { children: ReactNode }) {
  return (
    <div className="table-box" tabIndex={0}>
      <table>{children}</table>
    </div>
  );
}

function classOf({
  numeric = false,
  oneLine = false,
  breaks = false,
}: Pick<Column<never>, "numeric" | "oneLine" | "breaks">): string | undefined {
  const names = [numeric && "num", oneLine && "nowrap", breaks && "breaks"];
  return names.filter(Boolean).join(" ") || undefined;
}
