/**
 * Reads which files and tables the items of the catalogue use. Items of earlier revisions count too,
 * because a rollback shows them again.
 */
import type { Json } from "../../../core/model/json.ts";
import type { Queryable } from "../queryable.ts";

/** Returns those of the paths that an item uses. */
export async function knownPaths(db: Queryable, paths: readonly string[]): Promise<Set<string>> {
  const { rows } = await db.query<{ path: string }>(
    `SELECT path FROM unnest($1::text[]) AS path
     WHERE EXISTS (SELECT FROM dagapp.stac_items WHERE paths @> ARRAY[path])
       OR EXISTS (SELECT FROM dagapp.stac_revision_items WHERE paths @> ARRAY[path])`,
    [paths],
  );
  return new Set(rows.map(({ path }) => path));
}

/** Returns those of the tables that an item uses. */
export async function knownTables(db: Queryable, tables: readonly string[]): Promise<Set<string>> {
  const { rows } = await db.query<{ name: string }>(
    `SELECT name FROM unnest($1::text[]) AS name
     WHERE EXISTS (SELECT FROM dagapp.stac_items WHERE tables @> ARRAY[name])
       OR EXISTS (SELECT FROM dagapp.stac_revision_items WHERE tables @> ARRAY[name])`,
    [tables],
  );
  return new Set(rows.map(({ name }) => name));
}

/** Returns those of the item's files and tables that another item uses too. */
export async function usedByOthers(
  db: Queryable,
  item: { readonly collection_id: string; readonly item_id: string },
  sources: { readonly paths: readonly string[]; readonly tables: readonly string[] },
): Promise<Set<string>> {
  const { rows } = await db.query<{ name: string }>(
    `SELECT name FROM unnest($3::text[]) AS name WHERE EXISTS (
       SELECT FROM dagapp.stac_items
       WHERE paths @> ARRAY[name] AND (collection_id, item_id) <> ($1, $2))
     UNION
     SELECT name FROM unnest($3::text[]) AS name WHERE EXISTS (
       SELECT FROM dagapp.stac_revision_items
       WHERE paths @> ARRAY[name] AND (collection_id, item_id) <> ($1, $2))
     UNION
     SELECT name FROM unnest($4::text[]) AS name WHERE EXISTS (
       SELECT FROM dagapp.stac_items
       WHERE tables @> ARRAY[name] AND (collection_id, item_id) <> ($1, $2))
     UNION
     SELECT name FROM unnest($4::text[]) AS name WHERE EXISTS (
       SELECT FROM dagapp.stac_revision_items
       WHERE tables @> ARRAY[name] AND (collection_id, item_id) <> ($1, $2))`,
    [item.collection_id, item.item_id, sources.paths, sources.tables],
  );
  return new Set(rows.map(({ name }) => name));
}

/**
 * The files that the items of a version use, in all its revisions, the tables that its jobs made, and
 * these jobs. Files and tables that another version names are left out.
 */
export async function findVersionSources(
  db: Queryable,
  { asset_id, version_ordinal }: { readonly asset_id: string; readonly version_ordinal: number },
): Promise<{ paths: string[]; tables: string[]; jobs: string[] }> {
  const { rows } = await db.query<{
    path: string | null;
    table: string | null;
    job: string | null;
  }>(
    `WITH made AS (
       SELECT paths, tables FROM dagapp.stac_items WHERE asset_id = $1 AND version_ordinal = $2
       UNION ALL
       SELECT paths, tables FROM dagapp.stac_revision_items
       WHERE asset_id = $1 AND version_ordinal = $2
       UNION ALL
       SELECT '{}', ARRAY[table_name] FROM dagapp.geo_tables
       JOIN dagapp.asset_jobs USING (job_id) WHERE asset_id = $1 AND version_ordinal = $2
       UNION ALL
       -- Values by H3 cell: an item names its compacted files, and not the chunks and the copy of a source.
       SELECT ARRAY[file.path, 'silver/h3_sources/' || run_id || '.tif'], '{}'
       FROM dagapp.h3_computation_runs AS run
       JOIN dagapp.h3_output_manifest AS file USING (run_id)
       WHERE right(run.raster, 34 + length($2::text)) = '-' || $1 || '-' || $2::text),
     of_others AS MATERIALIZED (
       SELECT blob_path, table_name FROM dagapp.asset_versions
       WHERE deleted_at IS NULL AND (asset_id, version_ordinal) <> ($1, $2)
         AND (blob_path IN (SELECT unnest(paths) FROM made)
           OR table_name IN (SELECT unnest(tables) FROM made)))
     SELECT path, NULL AS table, NULL AS job FROM made, unnest(paths) AS path
     WHERE NOT EXISTS (SELECT FROM of_others WHERE blob_path = path)
     UNION
     SELECT NULL, name, NULL FROM made, unnest(tables) AS name
     WHERE NOT EXISTS (SELECT FROM of_others WHERE table_name = name)
     UNION
     SELECT NULL, NULL, job_id FROM dagapp.asset_jobs
     WHERE asset_id = $1 AND version_ordinal = $2 AND purpose = 'process'
     ORDER BY 1, 2, 3`,
    [asset_id, version_ordinal],
  );
  return {
    paths: rows.flatMap(({ path }) => path ?? []),
    tables: rows.flatMap(({ table }) => table ?? []),
    jobs: rows.flatMap(({ job }) => job ?? []),
  };
}

export interface ItemPaths {
  readonly collection_id: string;
  readonly item_id: string;
  readonly paths: readonly string[];
}

export async function pageOfPaths(
  db: Queryable,
  limit: number,
  after: Pick<ItemPaths, "collection_id" | "item_id"> | undefined,
): Promise<{ items: ItemPaths[]; next: ItemPaths | undefined }> {
  const { rows } = await db.query<ItemPaths>(
    `SELECT collection_id, item_id, paths FROM dagapp.stac_items
     WHERE (collection_id, item_id) > ($1, $2) ORDER BY collection_id, item_id LIMIT $3`,
    [after?.collection_id ?? "", after?.item_id ?? "", limit],
  );
  return { items: rows, next: rows.length === limit ? rows.at(-1) : undefined };
}

/** Finds tables that no item uses and no load is filling, and items whose table does not exist. */
export async function compareTables(
  db: Queryable,
): Promise<{ withoutItem: string[]; missing: string[] }> {
  const { rows } = await db.query<{ name: string; is_table: boolean }>(
    `SELECT relname AS name, true AS is_table FROM pg_class
     WHERE relnamespace = to_regnamespace('geo') AND relkind IN ('r', 'p')
       AND NOT EXISTS (SELECT FROM dagapp.stac_items WHERE tables @> ARRAY[relname::text])
       AND NOT EXISTS (
         SELECT FROM dagapp.stac_revision_items WHERE tables @> ARRAY[relname::text])
       AND NOT EXISTS (SELECT FROM dagapp.geo_loads WHERE loading_table = relname)
     UNION ALL
     SELECT collection_id || '/' || item_id || ' ' || name, false
     FROM dagapp.stac_items, unnest(tables) AS name
     WHERE to_regclass('geo.' || quote_ident(name)) IS NULL
     ORDER BY 1`,
  );
  const those = (isTable: boolean) =>
    rows.filter(({ is_table }) => is_table === isTable).map(({ name }) => name);
  return { withoutItem: those(true), missing: those(false) };
}

/** Reads items as they are stored, even if they are invalid. */
export async function itemRows(
  db: Queryable,
  collectionId: string,
  limit: number,
  after: string | undefined,
): Promise<{ rows: { item_id: string; item: Json }[]; next: string | undefined }> {
  const { rows } = await db.query<{ item_id: string; item: Json }>(
    `SELECT item_id, item FROM dagapp.stac_items
     WHERE collection_id = $1 AND item_id > $2 ORDER BY item_id LIMIT $3`,
    [collectionId, after ?? "", limit],
  );
  return { rows, next: rows.length === limit ? rows.at(-1)?.item_id : undefined };
}
