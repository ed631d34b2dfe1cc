/** Reads to whom jobs, collections and files belong. */
import type { Owner, VersionOwner } from "../../../core/catalogue/owner.ts";
import { operators } from "../../../core/catalogue/owner.ts";
import type { NamedVersion } from "../../../core/domain/platform-names.ts";
import { platformNames } from "../../../core/domain/platform-names.ts";
import type { Queryable } from "../queryable.ts";

/**
 * The owner of everything that a job makes: the version that the job, or the job that it runs again,
 * was started for. A job of no version is an operator's. Undefined: there is no such job.
 */
export async function ownerOfJob(db: Queryable, jobId: string): Promise<Owner | undefined> {
  const { rows } = await db.query<
    { asset_id: string | null } & Omit<VersionOwner, "kind" | "asset_id" | "names"> & NamedVersion
  >(
    `WITH RECURSIVE run AS (
       SELECT job_id::text, rerun_of FROM dagapp.dag_jobs WHERE job_id = $1
       UNION
       SELECT job.job_id::text, job.rerun_of
       FROM run JOIN dagapp.dag_jobs AS job ON job.job_id = run.rerun_of)
     SELECT link.asset_id, link.version_ordinal, link.revision, link.request_id,
       asset.platform_id, asset.platform_refs, version.version_label
     FROM run
     LEFT JOIN dagapp.asset_jobs AS link ON link.job_id IN (run.job_id, run.rerun_of)
     LEFT JOIN dagapp.geospatial_assets AS asset USING (asset_id)
     LEFT JOIN dagapp.asset_versions AS version USING (asset_id, version_ordinal)
     ORDER BY link.revision DESC NULLS LAST LIMIT 1`,
    [jobId],
  );
  const row = rows[0];
  if (row === undefined) return undefined;
  const { asset_id, version_ordinal, revision, platform_id } = row;
  if (asset_id === null) return operators;
  const names = platformNames(row);
  return { kind: "version", platform_id, asset_id, version_ordinal, revision, names };
}

export interface CollectionRight {
  readonly exists: boolean;
  /** The items of the platform may join the collection, or the platform may create it. */
  readonly allowed: boolean;
}

/** Whether a platform may put items into a collection: its own, or one that an operator allows. */
export async function rightToCollection(
  db: Queryable,
  platformId: string,
  collectionId: string,
): Promise<CollectionRight> {
  const { rows } = await db.query<{ allowed: boolean }>(
    `SELECT coalesce(collection.platform_id = $2, false)
       OR EXISTS (SELECT FROM dagapp.platforms
         WHERE platform_id = $2 AND $1 = ANY (collections)) AS allowed
     FROM dagapp.stac_collections AS collection WHERE collection_id = $1`,
    [collectionId, platformId],
  );
  return { exists: rows[0] !== undefined, allowed: rows[0]?.allowed ?? true };
}

/**
 * The owners of files and tables: of the jobs that wrote them, and of the items that use them. One search
 * of an index for all names: each search of it reads its list of recent entries first.
 */
export async function ownersOfSources(
  db: Queryable,
  { paths, tables }: { readonly paths: readonly string[]; readonly tables: readonly string[] },
): Promise<readonly ("operator" | Pick<VersionOwner, "asset_id" | "version_ordinal">)[]> {
  const { rows } = await db.query<{ asset_id: string | null; version_ordinal: number }>(
    `WITH path AS MATERIALIZED (SELECT DISTINCT name FROM unnest($1::text[]) AS name),
     source AS MATERIALIZED (SELECT DISTINCT name FROM unnest($2::text[]) AS name)
     SELECT link.asset_id, link.version_ordinal
     FROM path JOIN dagapp.asset_jobs AS link ON link.job_id = split_part(path.name, '/', 2)
     UNION
     SELECT link.asset_id, link.version_ordinal
     FROM source JOIN dagapp.geo_tables AS made ON made.table_name = source.name
     JOIN dagapp.asset_jobs AS link USING (job_id)
     UNION
     SELECT asset_id, version_ordinal FROM dagapp.stac_items
     WHERE paths && $1::text[] AND (is_operators OR asset_id IS NOT NULL)
     UNION
     SELECT asset_id, version_ordinal FROM dagapp.stac_items
     WHERE tables && $2::text[] AND (is_operators OR asset_id IS NOT NULL)
     UNION
     SELECT asset_id, version_ordinal FROM dagapp.stac_revision_items WHERE paths && $1::text[]
     UNION
     SELECT asset_id, version_ordinal FROM dagapp.stac_revision_items WHERE tables && $2::text[]`,
    [paths, tables],
  );
  return rows.map(({ asset_id, version_ordinal }) =>
    asset_id === null ? "operator" : { asset_id, version_ordinal },
  );
}

/** Returns those of the paths that the job of a version wrote. */
export async function governedPaths(db: Queryable, paths: readonly string[]): Promise<Set<string>> {
  const { rows } = await db.query<{ path: string }>(
    `SELECT path FROM unnest($1::text[]) AS path
     WHERE EXISTS (SELECT FROM dagapp.asset_jobs WHERE job_id = split_part(path, '/', 2))`,
    [paths],
  );
  return new Set(rows.map(({ path }) => path));
}
