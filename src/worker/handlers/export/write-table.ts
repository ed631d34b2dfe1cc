import { rm, stat } from "node:fs/promises";
import path from "node:path";
import type { ExportFormat } from "../../../core/vector/export-formats.ts";
import { exportFormats } from "../../../core/vector/export-formats.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { hashFile } from "../hash-content.ts";
import { requireDatabase } from "../require-database.ts";
import { exportLayer, requireTable } from "../vector/export-layer.ts";

/** Writes a layer's table as a file in storage. */
export async function writeTable(
  context: HandlerContext,
  tableName: string,
  format: ExportFormat,
  target: (ending: string) => string,
  maxZoom?: number | null,
): Promise<{ path: string; bytes: number; checksum: string; type: string }> {
  const database = requireDatabase(context);
  const table = await requireTable(database, tableName);
  const { ending, mediaType } = exportFormats[format];
  const file = path.join(context.workDir, `${tableName}${ending}`);
  await rm(file, { force: true });
  await exportLayer(database, table, format, file, context, maxZoom);
  const stored = target(ending);
  await context.storage.putFile(stored, file, {
    signal: context.signal,
    contentType: mediaType,
  });
  const [{ size }, checksum] = await Promise.all([stat(file), hashFile(file, context.signal)]);
  await rm(file, { force: true });
  return { path: stored, bytes: size, checksum, type: mediaType };
}
