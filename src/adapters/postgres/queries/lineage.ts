/** Reads what was made of what: dag_dataset_refs, step by step. */
import type { Queryable } from "../queryable.ts";

export type LineageKind = "file" | "table" | "item" | "version" | "job";

export interface LineageThing {
  readonly kind: LineageKind;
  readonly id: string;
}

interface RefRow {
  readonly source_kind: LineageKind;
  readonly source_id: string;
  readonly target_kind: LineageKind;
  readonly target_id: string;
  readonly relation: string;
  readonly created_at: Date;
}

/** The references of these things: to what was made of them, or to what they were made of. */
export async function readRefs(
  db: Queryable,
  things: readonly LineageThing[],
  direction: "down" | "up",
  limit: number,
): Promise<readonly RefRow[]> {
  const side = direction === "down" ? "source" : "target";
  const { rows } = await db.query<RefRow>(
    `SELECT ref.source_kind, ref.source_id, ref.target_kind, ref.target_id, ref.relation,
       ref.created_at
     FROM unnest($1::text[], $2::text[]) AS given (kind, id)
     JOIN dagapp.dag_dataset_refs ref ON (ref.${side}_kind, ref.${side}_id) = (given.kind, given.id)
     ORDER BY ref.created_at, ref.source_id, ref.target_id LIMIT $3`,
    [things.map(({ kind }) => kind), things.map(({ id }) => id), limit],
  );
  return rows;
}

/** The versions of an asset, as things of lineage. */
export async function versionsOf(db: Queryable, assetId: string): Promise<readonly LineageThing[]> {
  const { rows } = await db.query<{ id: string }>(
    `SELECT asset_id || '/' || version_ordinal AS id FROM dagapp.asset_versions
     WHERE asset_id = $1 ORDER BY version_ordinal`,
    [assetId],
  );
  return rows.map(({ id }) => ({ kind: "version", id }));
}

interface PromotedRow {
  readonly asset_id: string;
  readonly platform_id: string;
  readonly version_ordinal: number;
  readonly version_label: string;
  readonly revision: number | null;
  readonly external_blob_path: string | null;
  readonly updated_at: Date;
}

export async function listPromoted(db: Queryable, limit: number): Promise<readonly PromotedRow[]> {
  const { rows } = await db.query<PromotedRow>(
    `SELECT asset_id, platform_id, version_ordinal, version_label, revision, external_blob_path,
       updated_at
     FROM dagapp.dag_promoted ORDER BY updated_at DESC, asset_id LIMIT $1`,
    [limit],
  );
  return rows;
}
