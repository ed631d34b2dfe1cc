import type { Queryable } from "../../adapters/postgres/queryable.ts";
import type { EarlierRequest } from "../../adapters/postgres/repositories/requests.ts";
import { findEarlierRequest } from "../../adapters/postgres/repositories/requests.ts";
import { hasErrorCode } from "../../adapters/runtime/error-code.ts";
import type { Accepted } from "../../core/api/requests.ts";
import { Problem } from "../../core/errors.ts";

export interface Named {
  readonly request_id?: string | undefined;
  readonly idempotency_key?: string | undefined;
}

/** A request that came before under this id or key. One that asked for something else is refused. */
export async function findAnswered(
  db: Queryable,
  platformId: string,
  { request_id, idempotency_key }: Named,
  bodyHash: string,
): Promise<EarlierRequest | undefined> {
  const earlier = await findEarlierRequest(db, platformId, request_id, idempotency_key);
  if (earlier === undefined) return undefined;
  // Nothing of another platform's request is told, not even that it is another's.
  if (earlier.platform_id === platformId && earlier.body_hash === bodyHash) return earlier;
  const which = earlier.request_id === request_id ? "request id" : "idempotency key";
  throw new Problem("IDEMPOTENCY_CONFLICT", `The ${which} was used for another request.`);
}

export function answerEarlier(earlier: EarlierRequest): Accepted {
  const { request_id, platform_id, asset_id, version_ordinal, version_label, revision } = earlier;
  const { workflow_id, job_id, status, submitted_at } = earlier;
  return {
    ...{ request_id, platform_id, asset_id, version_ordinal, version_label, revision },
    ...{ workflow_id, job_id, status, submitted_at, created: false },
  };
}

const uniqueViolation = "23505";

/** Two requests with one key for two assets hold no common lock: the loser finds the winner here. */
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
