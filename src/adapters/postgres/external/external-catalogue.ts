/**
 * The catalogue of a second database, from which applications outside of the platform read: layers
 * and STAC items of public assets. The platform owns the schema `rmhdag_public` there and nothing
 * else.
 */
import type { StacItem } from "../../../core/catalogue/stac.ts";
import type { JsonObject } from "../../../core/model/json.ts";
import type { Database } from "../database.ts";

export interface ExternalLayer {
  readonly asset_id: string;
  readonly version_ordinal: number;
  readonly revision: number;
  readonly layer_type: string;
  readonly layer: JsonObject;
  readonly items: readonly StacItem[];
}

const schemaText = `
CREATE SCHEMA IF NOT EXISTS rmhdag_public;
CREATE TABLE IF NOT EXISTS rmhdag_public.layers (
  asset_id        text PRIMARY KEY,
  version_ordinal integer NOT NULL,
  revision        integer NOT NULL,
  layer_type      text NOT NULL,
  layer           jsonb NOT NULL,
  published_at    timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE IF NOT EXISTS rmhdag_public.items (
  collection_id text NOT NULL,
  item_id       text NOT NULL,
  asset_id      text NOT NULL REFERENCES rmhdag_public.layers ON DELETE CASCADE,
  item          jsonb NOT NULL,
  PRIMARY KEY (collection_id, item_id)
);
CREATE INDEX IF NOT EXISTS items_by_asset ON rmhdag_public.items (asset_id);`;

/** Any constant: two orchestrators must not create the schema at the same time. */
const schemaLock = 7_236_400_005;

export async function ensureExternalSchema(db: Database): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.query("SELECT pg_advisory_xact_lock($1)", [schemaLock]);
    for (const text of schemaText.split(";").filter((each) => each.trim() !== "")) {
      await tx.query(text);
    }
  });
}

/** Replaces the asset's layer and all of its items. */
export async function upsertExternal(db: Database, given: ExternalLayer): Promise<void> {
  await db.transaction(async (tx) => {
    const { asset_id, items } = given;
    await tx.query(
      `INSERT INTO rmhdag_public.layers (asset_id, version_ordinal, revision, layer_type, layer)
       VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (asset_id) DO UPDATE SET version_ordinal = $2, revision = $3, layer_type = $4,
         layer = $5, published_at = now()`,
      [
        asset_id,
        given.version_ordinal,
        given.revision,
        given.layer_type,
        JSON.stringify(given.layer),
      ],
    );
    const ids = items.map(({ collection, id }) => `${collection}/${id}`);
    await tx.query(
      `DELETE FROM rmhdag_public.items
       WHERE asset_id = $1 AND collection_id || '/' || item_id <> ALL($2::text[])`,
      [asset_id, ids],
    );
    await tx.query(
      `INSERT INTO rmhdag_public.items (collection_id, item_id, asset_id, item)
       SELECT collection_id, item_id, $1, item::jsonb
       FROM unnest($2::text[], $3::text[], $4::text[]) AS given (collection_id, item_id, item)
       ON CONFLICT (collection_id, item_id) DO UPDATE SET asset_id = $1, item = excluded.item`,
      [
        asset_id,
        items.map(({ collection }) => collection),
        items.map(({ id }) => id),
        items.map((item) => JSON.stringify(item)),
      ],
    );
  });
}

export async function removeExternal(db: Database, assetId: string): Promise<void> {
  await db.query("DELETE FROM rmhdag_public.layers WHERE asset_id = $1", [assetId]);
}
