import { createHash, randomBytes } from "node:crypto";
import type { Database } from "../../adapters/postgres/database.ts";
import { findKey } from "../../adapters/postgres/queries/platforms.ts";
import { findPlatform } from "../../adapters/postgres/queries/platforms.ts";
import {
  expireKey,
  insertKey,
  isPast,
  lockAndCountKeys,
  revokeKey as writeRevocation,
} from "../../adapters/postgres/repositories/api-keys.ts";
import type { Queryable, Transaction } from "../../adapters/postgres/queryable.ts";
import type { ApiKey } from "../../core/api/keys.ts";
import { Problem } from "../../core/errors.ts";
import type { KeyScope } from "../../core/model/platform.ts";
import type { AuditContext } from "../audit-context.ts";

export interface KeyRequest {
  readonly platform_id: string;
  readonly name: string;
  readonly scopes: readonly KeyScope[];
  readonly expires_at?: string | undefined;
}

export type NewApiKey = ApiKey & { readonly key: string };

/** The answer is the only place that ever contains the key: the table holds its hash. */
export async function createKey(
  db: Database,
  request: KeyRequest,
  audit: AuditContext,
): Promise<NewApiKey> {
  if ((await findPlatform(db, request.platform_id)) === undefined) {
    throw new Problem("PLATFORM_NOT_FOUND", `There is no platform "${request.platform_id}".`);
  }
  return db.transaction((tx) => makeKey(tx, { ...request, rotated_from: null }, audit));
}

/** Both keys are valid until the grace time ends, so that a partner can change programs one by one. */
export async function rotateKey(
  db: Database,
  keyId: string,
  graceSeconds: number,
  audit: AuditContext,
): Promise<NewApiKey> {
  return db.transaction(async (tx) => {
    const old = await requireKey(tx, keyId);
    if (old.revoked_at !== null) {
      throw new Problem("TRANSITION_REFUSED", "A revoked key has no successor: create a new one.");
    }
    const { platform_id, name, scopes } = old;
    const made = await makeKey(tx, { platform_id, name, scopes, rotated_from: keyId }, audit);
    await expireKey(tx, keyId, graceSeconds);
    return made;
  });
}

export async function revokeKey(db: Database, keyId: string, audit: AuditContext): Promise<ApiKey> {
  await requireKey(db, keyId);
  await writeRevocation(db, keyId, audit.actor);
  return requireKey(db, keyId);
}

/** Enough for every program of a partner, its successor during a rotation, and a few spare ones. */
const mostKeys = 100;

async function makeKey(
  tx: Transaction,
  request: KeyRequest & { readonly rotated_from: string | null },
  audit: AuditContext,
): Promise<NewApiKey> {
  if (request.expires_at !== undefined && (await isPast(tx, request.expires_at))) {
    const message = "must be in the future";
    throw new Problem(
      "BAD_REQUEST",
      `The key would be expired from the start: expires_at ${message}.`,
      [{ pointer: "/expires_at", code: "PAST", message }],
    );
  }
  if ((await lockAndCountKeys(tx, request.platform_id)) >= mostKeys) {
    throw new Problem(
      "TOO_MANY_KEYS",
      `The platform has ${mostKeys} keys that are valid: revoke one that is not needed.`,
    );
  }
  const key_id = randomBytes(6).toString("hex");
  const key = `rmhk_${key_id}_${randomBytes(32).toString("base64url")}`;
  await insertKey(tx, {
    ...request,
    scopes: [...new Set(request.scopes)],
    expires_at: request.expires_at ?? null,
    key_id,
    key_hash: createHash("sha256").update(key).digest("hex"),
    created_by: audit.actor,
  });
  return { ...(await requireKey(tx, key_id)), key };
}

async function requireKey(db: Queryable, keyId: string): Promise<ApiKey> {
  const key = await findKey(db, keyId);
  if (key === undefined) throw new Problem("KEY_NOT_FOUND", `There is no key "${keyId}".`);
  return key;
}
