import { harmless } from "./output.ts";

export type Cell = string | number | null | undefined;

/** Columns as wide as their widest cell; numbers stand on the right. Empty cells are a dash. */
export function table(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const texts = rows.map((row) => row.map(cellText));
  const widths = head.map((title, column) =>
    Math.max(title.length, ...texts.map((row) => row[column]?.length ?? 0)),
  );
  const isNumber = head.map(
    (_, column) =>
      rows.every((row) => typeof row[column] === "number" || row[column] == null) &&
      rows.some((row) => row[column] != null),
  );
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        return isNumber[column] === true ? cell.padStart(width) : cell.padEnd(width);
      })
      .join("  ")
      .trimEnd();
  return [line(head), ...texts.map(line)].join("\n");
}

function cellText(cell: Cell): string {
  return cell === null || cell === undefined || cell === "" ? "–" : harmless(String(cell));
}
