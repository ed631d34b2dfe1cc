/** Steps that all writers of the catalogue share. */
import { boxesOf } from "../../../core/geometry/boxes.ts";
import type { Box } from "../../../core/geometry/boxes.ts";
import { extentOf } from "../../../core/catalogue/collection.ts";
import type { Coverage } from "../../../core/catalogue/extent.ts";
import { sourcesOf, spanOf } from "../../../core/catalogue/stac.ts";
import type { StacCollection, StacItem } from "../../../core/catalogue/stac.ts";
import { KnownError } from "../../runtime/known-error.ts";
import { arrayLiteral } from "../array-literal.ts";
import { coverageText } from "../queries/catalogue-collections.ts";
import type { Transaction } from "../queryable.ts";
import { textArray } from "../text-array.ts";
import { createPgstacMirror } from "./catalogue-pgstac.ts";
import type { PgstacMirror } from "./catalogue-pgstac.ts";

type CatalogueProblem =
  | "COLLECTION_NOT_FOUND"
  | "COLLECTION_NOT_YOURS"
  | "COLLECTION_NOT_EMPTY"
  | "COLLECTION_EXISTS"
  | "ITEM_EXISTS"
  | "ITEM_GOVERNED"
  | "EDIT_CONFLICT"
  | "DUPLICATE_ITEM"
  | "ITEM_NOT_YOURS"
  | "FILES_NOT_YOURS"
  | "ITEMS_NOT_WRITTEN";

export class CatalogueError extends KnownError {
  constructor(code: CatalogueProblem, message: string) {
    super(code, code === "ITEMS_NOT_WRITTEN" ? "transient" : "permanent", message);
  }
}

/** An item with what its columns hold. */
export interface ItemRow extends ReturnType<typeof sourcesOf>, ReturnType<typeof spanOf> {
  readonly item: StacItem;
  readonly boxes: ReturnType<typeof boxesOf>;
}

export function toRow(item: StacItem): ItemRow {
  return { item, boxes: boxesOf(item.bbox), ...spanOf(item), ...sourcesOf(item) };
}

/** The values of `givenItems`: one array for each column. */
export function itemColumns(rows: readonly ItemRow[]): unknown[] {
  return [
    textArray(rows.map(({ item }) => item.id)),
    textArray(rows.map(({ item }) => JSON.stringify(item))),
    rows.map(({ boxes }) => boxText(boxes[0])),
    rows.map(({ boxes }) => (boxes.length === 2 ? boxText(boxes[1]) : null)),
    rows.map(({ start }) => start),
    rows.map(({ end }) => end),
    textArray(rows.map(({ paths }) => arrayLiteral(paths) ?? "{}")),
    textArray(rows.map(({ tables }) => arrayLiteral(tables) ?? "{}")),
  ];
}

/** A relation of items from eight array parameters, the first of which has this number. */
export function givenItems(first: number): string {
  const at = (index: number) => `$${first + index}`;
  return `SELECT item_id, item::jsonb, box::box, box_beyond::box, starts_at, ends_at,
      paths::text[], tables::text[]
    FROM unnest(${at(0)}::text[], ${at(1)}::text[], ${at(2)}::text[], ${at(3)}::text[],
      ${at(4)}::timestamptz[], ${at(5)}::timestamptz[], ${at(6)}::text[], ${at(7)}::text[])
      AS given (item_id, item, box, box_beyond, starts_at, ends_at, paths, tables)`;
}

/** For the rest of the transaction, plans use indexes also where the tables were never analysed. */
export async function lockCollection(tx: Transaction, collectionId: string): Promise<void> {
  await tx.query(
    `SELECT set_config('enable_seqscan', 'off', true),
       pg_advisory_xact_lock(hashtextextended('stac ' || $1, 0))`,
    [collectionId],
  );
}

const recomputeText = `
UPDATE dagapp.stac_collections SET
  item_count = counted.item_count, coverage = counted.coverage, updated_at = now()
FROM (${coverageText("items.collection_id = $1")}) AS counted WHERE collection_id = $1`;

export async function recompute(tx: Transaction, collectionId: string): Promise<void> {
  await tx.query(recomputeText, [collectionId]);
}

export async function mirrorCollection(
  tx: Transaction,
  collectionId: string,
): Promise<PgstacMirror | undefined> {
  const mirror = await createPgstacMirror(tx);
  if (mirror === undefined) return undefined;
  const { rows } = await tx.query<{ collection: StacCollection; coverage: Coverage | null }>(
    `SELECT collection, coverage FROM dagapp.stac_collections WHERE collection_id = $1`,
    [collectionId],
  );
  const row = rows[0];
  if (row !== undefined) {
    await mirror.upsertCollection({ ...row.collection, extent: extentOf(row.coverage) });
  }
  return mirror;
}

function boxText([west, south, east, north]: Box): string {
  return `(${east},${north}),(${west},${south})`;
}
