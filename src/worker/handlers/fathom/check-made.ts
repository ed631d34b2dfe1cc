/**
 * Tells whether a flood raster is made: its inputs are those that its file was made of, and the file
 * is the one that was written. A file with the recorded ETag is not read; any other is hashed.
 */
import type { FathomRow, MadeRaster } from "../../../adapters/postgres/queries/fathom.ts";
import { findFathomRaster } from "../../../adapters/postgres/queries/fathom.ts";
import { recordFathomRaster } from "../../../adapters/postgres/repositories/fathom.ts";
import type { FathomKey } from "../../../core/fathom/configuration.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";
import { hashStream } from "../hash-content.ts";
import { requireDatabase } from "../require-database.ts";

export async function requirePlanned(context: HandlerContext, key: FathomKey): Promise<FathomRow> {
  const found = await findFathomRaster(requireDatabase(context), key);
  if (found !== undefined) return found;
  throw new PermanentError(
    `"${key.product}" of ${key.place} is not planned: the inventory of "${key.dataset}" records it.`,
    { code: "RASTER_NOT_PLANNED" },
  );
}

export async function findMade(
  context: HandlerContext,
  row: FathomRow,
): Promise<MadeRaster | undefined> {
  if (row.made_of === null || row.made_of !== row.input_hash) return undefined;
  const stored = await context.storage.head(row.path);
  if (stored?.bytes !== row.bytes) return undefined;
  if (stored.etag === row.etag) return row;
  const { body } = await context.storage.stream(row.path);
  if ((await hashStream(body, context.signal)) !== row.checksum) return undefined;
  const made = { ...row, etag: stored.etag };
  await recordFathomRaster(requireDatabase(context), row, made);
  return made;
}
