/**
 * The attributes of a row as GDAL wrote them for COPY: dates that PostgreSQL cannot hold are
 * emptied, columns with values are counted, and types are found where the format has none.
 */
import type { DumpColumn } from "./read-dump.ts";
import { RawColumn } from "./raw-values.ts";
import type { RawKind } from "./raw-values.ts";
import { TypeSniffer } from "./sniff-types.ts";
import { isUsableDate } from "./usable-date.ts";

const nothing = "\\N";

/**
 * GDAL writes a backslash in a list of texts as COPY needs it, and not once more as the list needs
 * it. Before a quotation mark inside of a text it does; a mark at the text's end is followed by the
 * next text, or by the end of the list.
 */
const lostBackslash = /\\\\(?!"(?!,"|\}$))/g;

export class AttributeReader {
  private readonly columns: readonly DumpColumn[];
  private readonly dates: readonly number[];
  /** The columns that had no value yet. */
  private readonly empty: Set<number>;
  private readonly lists: readonly number[];
  private readonly sniffer: TypeSniffer | undefined;
  private readonly raw: ReadonlyMap<number, RawColumn>;
  /** Columns of JSON, as far as all their values are. */
  private readonly json: Set<number>;
  droppedDates = 0;

  constructor(
    columns: readonly DumpColumn[],
    isUntyped: boolean,
    rawColumns: ReadonlyMap<string, RawKind>,
  ) {
    this.columns = columns;
    this.dates = columns.flatMap(({ type }, index) =>
      type === "date" || type === "timestamptz" ? [index] : [],
    );
    this.lists = columns.flatMap(({ type }, index) => (type === "text[]" ? [index] : []));
    this.empty = new Set(columns.keys());
    this.sniffer = isUntyped ? new TypeSniffer(columns.length) : undefined;
    this.json = new Set(columns.flatMap(({ type }, index) => (type === "jsonb" ? [index] : [])));
    this.raw = new Map(
      columns.flatMap(({ name }, index) => {
        const kind = rawColumns.get(name);
        return kind === undefined ? [] : [[index, new RawColumn(kind)] as const];
      }),
    );
  }

  /** True: `read` answers any further row as it is, and need not be asked. */
  get isDone(): boolean {
    const isTyped = this.sniffer === undefined && this.raw.size === 0 && this.json.size === 0;
    return isTyped && this.empty.size === 0 && this.dates.length === 0 && this.lists.length === 0;
  }

  /** The row with unusable dates emptied. Rows are split only where a value has to be looked at. */
  read(row: string): string {
    const isPlain =
      this.dates.length === 0 &&
      this.raw.size === 0 &&
      this.json.size === 0 &&
      (this.lists.length === 0 || !row.includes("\\"));
    if (this.empty.size === 0 && isPlain && this.sniffer === undefined) return row;
    const values = row.split("\t");
    let isChanged = false;
    for (const [index, column] of this.raw) {
      values[index] = column.read(values[index] ?? nothing);
      isChanged = true;
    }
    for (const index of this.empty) {
      if ((values[index] ?? nothing) !== nothing) this.empty.delete(index);
    }
    this.sniffer?.see(values, this.raw);
    for (const index of this.json) {
      const value = values[index] ?? nothing;
      if (value !== nothing && !isJson(value)) this.json.delete(index);
    }
    for (const index of this.dates) {
      const value = values[index] ?? nothing;
      if (value === nothing || isUsableDate(value)) continue;
      values[index] = nothing;
      isChanged = true;
      this.droppedDates += 1;
    }
    for (const index of this.lists) {
      const value = values[index] ?? nothing;
      if (value === nothing || !value.includes("\\\\")) continue;
      values[index] = value.replaceAll(lostBackslash, "\\\\\\\\");
      isChanged = true;
    }
    return isChanged ? values.join("\t") : row;
  }

  /** Columns with more than 64 bits in an integer; they are text. */
  get hugeColumns(): number {
    const raw = [...this.raw.values()].filter((column) => column.isHuge);
    return (this.sniffer?.hugeColumns ?? 0) + raw.length;
  }

  private typeOf(index: number, declared: DumpColumn["type"]): DumpColumn["type"] {
    // GDAL calls a column JSON where numbers and texts are mixed, and writes the texts as they are.
    if (declared === "jsonb" && !this.json.has(index)) return "text";
    return this.raw.get(index)?.type ?? this.sniffer?.typeOf(index) ?? declared;
  }

  /** All columns, after the last row. */
  found(): readonly (DumpColumn & { readonly isEmpty: boolean })[] {
    return this.columns.map((column, index) => ({
      name: column.name,
      type: this.typeOf(index, column.type),
      isEmpty: this.empty.has(index),
    }));
  }
}

const escapes: ReadonlyMap<string, string> = new Map([
  ["n", "\n"],
  ["t", "\t"],
  ["r", "\r"],
]);

/** Whether a value as COPY writes it is JSON. */
function isJson(value: string): boolean {
  const text = value.replaceAll(/\\(.)/g, (_, letter: string) => escapes.get(letter) ?? letter);
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
