import type { Platform } from "../../../core/model/platform.ts";
import type { Queryable } from "../queryable.ts";
import { isoRow } from "./iso-row.ts";

const columns = `platform_id, display_name, required_refs, optional_refs, version_ref, is_active,
  callback_url, callback_hosts, source_prefixes, secret_number, secret_changed_at, row_version,
  created_at, updated_at`;

export async function listPlatforms(db: Queryable): Promise<Platform[]> {
  const { rows } = await db.query(`SELECT ${columns} FROM dagapp.platforms ORDER BY platform_id`);
  return rows.map((row) => isoRow<Platform>(row));
}

export async function findPlatform(
  db: Queryable,
  platformId: string,
): Promise<Platform | undefined> {
  const { rows } = await db.query(
    `SELECT ${columns} FROM dagapp.platforms WHERE platform_id = $1`,
    [platformId],
    "find_platform",
  );
  return rows[0] && isoRow<Platform>(rows[0]);
}
