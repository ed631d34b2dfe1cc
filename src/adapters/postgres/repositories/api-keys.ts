import type { KeyScope } from "../../../core/model/platform.ts";
import type { Queryable, Transaction } from "../queryable.ts";

export interface NewKey {
  readonly key_id: string;
  readonly platform_id: string;
  readonly name: string;
  readonly key_hash: string;
  readonly scopes: readonly KeyScope[];
  readonly created_by: string;
  readonly expires_at: string | null;
  readonly rotated_from: string | null;
}

export async function insertKey(db: Queryable, key: NewKey): Promise<void> {
  await db.query(
    `INSERT INTO dagapp.api_keys (key_id, platform_id, name, key_hash, scopes, created_by,
       expires_at, rotated_from)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      key.key_id,
      key.platform_id,
      key.name,
      key.key_hash,
      key.scopes,
      key.created_by,
      key.expires_at,
      key.rotated_from,
    ],
  );
}

/** Counts the valid keys of a platform; its row is locked, so that no other key is made meanwhile. */
export async function lockAndCountKeys(tx: Transaction, platformId: string): Promise<number> {
  await tx.query("SELECT FROM dagapp.platforms WHERE platform_id = $1 FOR UPDATE", [platformId]);
  const { rows } = await tx.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM dagapp.api_keys
     WHERE platform_id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())`,
    [platformId],
  );
  return rows[0]?.count ?? 0;
}

/** By the clock of the database, which decides whether a key is valid. */
export async function isPast(db: Queryable, at: string): Promise<boolean> {
  const { rows } = await db.query<{ past: boolean }>("SELECT $1::timestamptz <= now() AS past", [
    at,
  ]);
  return rows[0]?.past === true;
}

/** Lets a key expire after so many seconds, unless it expires sooner. */
export async function expireKey(db: Queryable, keyId: string, seconds: number): Promise<void> {
  await db.query(
    `UPDATE dagapp.api_keys SET expires_at = least(expires_at, now() + make_interval(secs => $2))
     WHERE key_id = $1`,
    [keyId, seconds],
  );
}

/** Revokes a key; a second call changes nothing. */
export async function revokeKey(db: Queryable, keyId: string, by: string): Promise<void> {
  await db.query(
    `UPDATE dagapp.api_keys SET revoked_at = now(), revoked_by = $2
     WHERE key_id = $1 AND revoked_at IS NULL`,
    [keyId, by],
  );
}
