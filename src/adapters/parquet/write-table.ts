/** Writes tables of H3 statistics as Parquet. The same rows give the same bytes. */
import type { SchemaElement } from "hyparquet";
import { ParquetWriter, fileWriter, parquetWriteBuffer } from "hyparquet-writer";

export interface TableColumn {
  readonly name: string;
  readonly type: "text" | "integer" | "number" | "json";
}

/** The values of each column, in the order of the columns. */
export type TableRows = readonly (readonly unknown[])[];

export function tableBytes(columns: readonly TableColumn[], data: TableRows): Uint8Array {
  const columnData = columns.map(({ name }, index) => ({ name, data: [...(data[index] ?? [])] }));
  return new Uint8Array(parquetWriteBuffer({ columnData, schema: schemaOf(columns) }));
}

/** Writes rows in groups, so that a table larger than memory can be written. */
export function openTable(file: string, columns: readonly TableColumn[]) {
  const writer = new ParquetWriter({ writer: fileWriter(file), schema: schemaOf(columns) });
  return {
    async write(data: TableRows): Promise<void> {
      const rowGroupSize = data[0]?.length ?? 0;
      const columnData = columns.map(({ name }, index) => ({
        name,
        data: [...(data[index] ?? [])],
      }));
      await writer.write({ columnData, rowGroupSize });
    },
    close: () => writer.finish(),
  };
}

function schemaOf(columns: readonly TableColumn[]): SchemaElement[] {
  return [{ name: "root", num_children: columns.length }, ...columns.map(elementOf)];
}

function elementOf({ name, type }: TableColumn): SchemaElement {
  switch (type) {
    case "text":
      return {
        name,
        repetition_type: "REQUIRED",
        type: "BYTE_ARRAY",
        converted_type: "UTF8",
        logical_type: { type: "STRING" },
      };
    case "integer":
      return { name, repetition_type: "REQUIRED", type: "INT32" };
    case "number":
      return { name, repetition_type: "OPTIONAL", type: "DOUBLE" };
    case "json":
      return {
        name,
        repetition_type: "OPTIONAL",
        type: "BYTE_ARRAY",
        converted_type: "JSON",
        logical_type: { type: "JSON" },
      };
  }
}
