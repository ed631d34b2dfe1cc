/**
 * A request that is sent twice, with the same request id or idempotency key, is answered as the first
 * time and creates nothing.
 */
import { createHash } from "node:crypto";
import type { Queryable } from "../../adapters/postgres/queryable.ts";
import type { EarlierRequest } from "../../adapters/postgres/repositories/requests.ts";
import { findEarlierRequest } from "../../adapters/postgres/repositories/requests.ts";
import { hasErrorCode } from "../../adapters/runtime/error-code.ts";
import type { Accepted } from "../../core/api/requests.ts";
import { Problem } from "../../core/errors.ts";
import type { Json, JsonObject } from "../../core/model/json.ts";

export interface RequestKeys {
  readonly request_id?: string | undefined;
  readonly idempotency_key?: string | undefined;
}

/** Finds the first request with this id or key. If its body was another, the new request is refused. */
export async function findEarlier(
  db: Queryable,
  platformId: string,
  { request_id, idempotency_key }: RequestKeys,
  bodyHash: string,
): Promise<EarlierRequest | undefined> {
  const earlier = await findEarlierRequest(db, platformId, request_id, idempotency_key);
  if (earlier === undefined) return undefined;
  // The refusal does not say whether the first request was of another platform.
  if (earlier.platform_id === platformId && earlier.body_hash === bodyHash) return earlier;
  const which = earlier.request_id === request_id ? "request id" : "idempotency key";
  throw new Problem("IDEMPOTENCY_CONFLICT", `The ${which} was used for another request.`);
}

export function answerEarlier(earlier: EarlierRequest): Accepted {
  return {
    request_id: earlier.request_id,
    platform_id: earlier.platform_id,
    asset_id: earlier.asset_id,
    version_ordinal: earlier.version_ordinal,
    version_label: earlier.version_label,
    revision: earlier.revision,
    workflow_id: earlier.workflow_id,
    job_id: earlier.job_id,
    status: earlier.status,
    submitted_at: earlier.submitted_at,
    created: false,
  };
}

const uniqueViolation = "23505";

/**
 * Two requests with one key for two assets hold no common lock, so a unique index decides. The second
 * one is answered like the first.
 */
export async function retryOnTakenKey(
  db: Queryable,
  find: (db: Queryable) => Promise<EarlierRequest | undefined>,
  write: () => Promise<Accepted>,
): Promise<Accepted> {
  try {
    return await write();
  } catch (error) {
    if (!hasErrorCode(error, uniqueViolation)) throw error;
    const earlier = await find(db);
    if (earlier === undefined) throw error;
    return answerEarlier(earlier);
  }
}

/** Equal for equal requests, whatever the order of their fields. */
export function hashBody(body: JsonObject): string {
  return createHash("sha256")
    .update(JSON.stringify(sorted(body)))
    .digest("hex");
}

function sorted(value: Json): Json {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return (value as readonly Json[]).map(sorted);
  const entries = Object.entries(value as JsonObject).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, each]) => [key, sorted(each)]));
}
