import { createHash, randomBytes } from "node:crypto";
import { findKey, findPlatform } from "../../adapters/postgres/queries/platforms.ts";
import {
  expireKey,
  insertKey,
  revokeKey as revoke,
} from "../../adapters/postgres/repositories/api-keys.ts";
import type { Queryable } from "../../adapters/postgres/queryable.ts";
import type { ApiKey } from "../../core/api/keys.ts";
import { Problem } from "../../core/errors.ts";
import type { KeyScope } from "../../core/model/platform.ts";
import type { Act, DomainDeps } from "../assets/deps.ts";

export interface KeyRequest {
  readonly platform_id: string;
  readonly name: string;
  readonly scopes: readonly KeyScope[];
  readonly expires_at?: string | undefined;
}

export type NewApiKey = ApiKey & { readonly key: string };

/** The key is told here, this once: the table holds its hash. */
export async function createKey(
  { db }: Pick<DomainDeps, "db">,
  request: KeyRequest,
  act: Act,
): Promise<NewApiKey> {
  if ((await findPlatform(db, request.platform_id)) === undefined) {
    throw new Problem("PLATFORM_NOT_FOUND", `There is no platform "${request.platform_id}".`);
  }
  return makeKey(db, { ...request, rotated_from: null }, act);
}

/** Both are good until the grace is over, so that nobody has to change all his programs at once. */
export async function rotateKey(
  { db }: Pick<DomainDeps, "db">,
  keyId: string,
  graceSeconds: number,
  act: Act,
): Promise<NewApiKey> {
  return db.transaction(async (tx) => {
    const old = await demandKey(tx, keyId);
    if (old.revoked_at !== null) {
      throw new Problem("TRANSITION_REFUSED", "A revoked key has no successor: create a new one.");
    }
    const { platform_id, name, scopes } = old;
    const made = await makeKey(tx, { platform_id, name, scopes, rotated_from: keyId }, act);
    await expireKey(tx, keyId, graceSeconds);
    return made;
  });
}

export async function revokeKey(
  { db }: Pick<DomainDeps, "db">,
  keyId: string,
  act: Act,
): Promise<ApiKey> {
  await demandKey(db, keyId);
  await revoke(db, keyId, act.actor);
  return demandKey(db, keyId);
}

async function makeKey(
  db: Queryable,
  request: KeyRequest & { readonly rotated_from: string | null },
  act: Act,
): Promise<NewApiKey> {
  const key_id = randomBytes(6).toString("hex");
  const key = `rmhk_${key_id}_${randomBytes(32).toString("base64url")}`;
  await insertKey(db, {
    ...request,
    scopes: [...new Set(request.scopes)],
    expires_at: request.expires_at ?? null,
    key_id,
    key_hash: createHash("sha256").update(key).digest("hex"),
    created_by: act.actor,
  });
  return { ...(await demandKey(db, key_id)), key };
}

async function demandKey(db: Queryable, keyId: string): Promise<ApiKey> {
  const key = await findKey(db, keyId);
  if (key === undefined) throw new Problem("KEY_NOT_FOUND", `There is no key "${keyId}".`);
  return key;
}
