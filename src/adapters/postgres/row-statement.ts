/**
 * Statements that write rows: `INSERT … SELECT … FROM rows`, `UPDATE … FROM rows`.
 *
 * Many rows are sent as one array a column and unnested, so that a statement takes any number of them.
 * PostgreSQL copies each of these arrays into a store of its own with every run, about 3 µs each: a job
 * that runs alone writes one or two rows at a time with 9 to 20 columns, and that took a third of the
 * statement. A few rows are sent as VALUES instead, by a statement for their number. Both forms give
 * the same rows in the same order.
 */
import { textArray } from "./text-array.ts";

/** The type of a column, and its value in a row. `json` is a text that may be long. */
export type RowColumn<R> = readonly [
  type: "text" | "json" | "int" | "smallint" | "bigint" | "float8" | "boolean" | "timestamptz",
  valueOf: (row: R) => string | number | boolean | null,
];

export interface PreparedStatement {
  readonly text: string;
  readonly values: readonly unknown[];
  readonly name: string;
}

/** Answers the statement for these rows; `others` are its further parameters. */
export type RowStatement<R> = (
  rows: readonly R[],
  others?: readonly unknown[],
) => PreparedStatement;

/** More rows than this are sent as arrays. */
const mostValues = 4;

/**
 * `write` answers the text of the statement. It is given the source of the rows, whose alias and columns
 * are `alias(column, …)`, and the placeholder of a further parameter by its index.
 */
export function rowStatement<R>(
  name: string,
  columns: Readonly<Record<string, RowColumn<R>>>,
  write: (rows: (alias: string) => string, other: (index: number) => string) => string,
): RowStatement<R> {
  const names = Object.keys(columns).join(", ");
  const all = Object.values(columns);
  const types = all.map(([type]) => (type === "json" ? "text" : type));
  const textOf = (source: string, parameters: number) =>
    write(
      (alias) => `${source} AS ${alias}(${names})`,
      (index) => `$${parameters + index + 1}`,
    );
  const unnested = types.map((type, index) => `$${index + 1}::${type}[]`).join(", ");
  const ofMany = textOf(`unnest(${unnested})`, types.length);
  const ofFew: string[] = [];

  function textOfFew(count: number): string {
    const rows = Array.from({ length: count }, (_, row) => {
      const placeholders = types.map(
        (type, index) => `$${row * types.length + index + 1}::${type}`,
      );
      return `(${placeholders.join(", ")})`;
    });
    return textOf(`(VALUES ${rows.join(", ")})`, count * types.length);
  }

  return (rows, others = []) => {
    const values: unknown[] = [];
    if (rows.length > 0 && rows.length <= mostValues) {
      for (const row of rows) for (const [, valueOf] of all) values.push(valueOf(row));
      const text = (ofFew[rows.length] ??= textOfFew(rows.length));
      return { text, values: values.concat(others), name: `${name}_${rows.length}` };
    }
    for (const [type, valueOf] of all) {
      const list = rows.map(valueOf);
      values.push(type === "json" ? textArray(list.map(toText)) : list);
    }
    return { text: ofMany, values: values.concat(others), name };
  };
}

function toText(value: string | number | boolean | null): string | null {
  return value === null ? null : String(value);
}
