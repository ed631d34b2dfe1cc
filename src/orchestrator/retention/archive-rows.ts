/** Writes rows that are about to be removed to storage as Parquet, and reads them again. */
import { createHash } from "node:crypto";
import { readTable } from "../../adapters/parquet/read-table.ts";
import type { TableColumn } from "../../adapters/parquet/write-table.ts";
import { tableBytes } from "../../adapters/parquet/write-table.ts";
import type { ArchiveFile } from "../../adapters/postgres/queries/retention.ts";
import type { Transaction } from "../../adapters/postgres/queryable.ts";
import type { ArchivedRow } from "../../adapters/postgres/queries/old-rows.ts";
import { recordArchive } from "../../adapters/postgres/repositories/retention.ts";
import type { Storage } from "../../adapters/storage/storage.ts";
import type { RetentionClass } from "../../core/retention/classes.ts";

const columns = (["job_id", "table_name", "row_key", "parent", "row"] as const).map(
  (name): TableColumn & { name: keyof ArchivedRow } => ({ name, type: "text" }),
);

/**
 * The file's name is made of its bytes: a batch that is rolled back leaves a file that its next
 * attempt writes again.
 */
export async function archiveRows(
  { storage, tx }: { readonly storage: Storage; readonly tx: Transaction },
  name: RetentionClass,
  day: string,
  rows: readonly ArchivedRow[],
): Promise<void> {
  const bytes = tableBytes(
    columns,
    columns.map((column) => rows.map((row) => row[column.name])),
  );
  const hash = createHash("sha256").update(bytes).digest("hex").slice(0, 32);
  const path = `results/archive/${name}/${day}/${hash}.parquet`;
  await storage.put(path, bytes, { contentType: "application/vnd.apache.parquet" });
  const jobIds = [...new Set(rows.map(({ job_id }) => job_id))].filter((id) => id !== "");
  await recordArchive(tx, {
    class: name,
    path,
    rows: rows.length,
    bytes: bytes.byteLength,
    jobIds,
  });
}

/** The rows of one job in these files, by table. Of two with one key the newer one counts. */
export async function readArchivedRows(
  storage: Storage,
  files: readonly ArchiveFile[],
  jobId: string,
  isWanted: (row: ArchivedRow) => boolean,
): Promise<Map<string, readonly ArchivedRow[]>> {
  const found = new Map<string, Map<string, ArchivedRow>>();
  for (const { path, bytes } of files) {
    const rows = (await readTable(storage, path, bytes)) as unknown as readonly ArchivedRow[];
    for (const row of rows) {
      if (row.job_id !== jobId || !isWanted(row)) continue;
      const table = found.get(row.table_name) ?? new Map<string, ArchivedRow>();
      found.set(row.table_name, table.set(row.row_key, row));
    }
  }
  return new Map([...found].map(([table, rows]) => [table, [...rows.values()]]));
}
