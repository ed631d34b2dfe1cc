import type { KeyScope } from "../../../core/model/platform.ts";
import type { Queryable } from "../queryable.ts";
import type { Sent } from "./rows.ts";
import { toSent } from "./rows.ts";

export interface KeyFacts {
  readonly key_id: string;
  readonly platform_id: string;
  readonly key_hash: string;
  readonly scopes: readonly string[];
  readonly is_usable: boolean;
}

export async function findKeyByHash(db: Queryable, keyHash: string): Promise<KeyFacts | undefined> {
  const { rows } = await db.query<KeyFacts>(
    `SELECT key_id, platform_id, key_hash, scopes, is_usable
     FROM gateway.api_keys WHERE key_hash = $1`,
    [keyHash],
    "gateway_key",
  );
  return rows[0];
}

interface KeyRow {
  readonly key_id: string;
  readonly name: string;
  readonly scopes: KeyScope[];
  readonly created_at: Date;
  readonly created_by: string;
  readonly expires_at: Date | null;
  readonly revoked_at: Date | null;
  readonly rotated_from: string | null;
}

/** Lists keys without their hashes, which are read only to verify a key. */
export async function listKeys(db: Queryable, platformId: string): Promise<Sent<KeyRow>[]> {
  const { rows } = await db.query<KeyRow>(
    `SELECT key_id, name, scopes, created_at, created_by, expires_at, revoked_at, rotated_from
     FROM gateway.api_keys WHERE platform_id = $1 ORDER BY created_at DESC, key_id`,
    [platformId],
  );
  return rows.map(toSent);
}

export async function hasKey(db: Queryable, platformId: string, keyId: string): Promise<boolean> {
  const { rowCount } = await db.query(
    "SELECT FROM gateway.api_keys WHERE platform_id = $1 AND key_id = $2",
    [platformId, keyId],
  );
  return rowCount === 1;
}
