import type { Access } from "../../../core/api/contract.ts";
import type { Queryable, Transaction } from "../queryable.ts";

/** What a secret gives: the caller's name and rights, and the token that they came from. */
export interface Grant {
  readonly name: string;
  readonly access: readonly Access[];
  /** Null: they came from no token, but from a proxy or this machine. */
  readonly token_sha256: string | null;
}

export async function insertLoginCode(
  db: Queryable,
  code: Grant & { readonly sha256: string; readonly seconds: number },
): Promise<{ expires_at: Date }> {
  // Kept for a day, so that a code that is used twice can be told from one that never was.
  await db.query("DELETE FROM dagapp.login_codes WHERE expires_at < now() - interval '1 day'");
  const { rows } = await db.query<{ expires_at: Date }>(
    `INSERT INTO dagapp.login_codes (sha256, name, access, token_sha256, expires_at)
     VALUES ($1, $2, $3, $4, now() + make_interval(secs => $5)) RETURNING expires_at`,
    [code.sha256, code.name, code.access, code.token_sha256, code.seconds],
  );
  return requireRow(rows);
}

/** Marks a code as used and answers what it gives; undefined for an unknown, used or old code. */
export async function useLoginCode(tx: Transaction, sha256: string): Promise<Grant | undefined> {
  const { rows } = await tx.query<Grant>(
    `UPDATE dagapp.login_codes SET used_at = now()
     WHERE sha256 = $1 AND used_at IS NULL AND expires_at > now()
     RETURNING name, access, token_sha256`,
    [sha256],
  );
  return rows[0];
}

export interface NewSession extends Grant {
  readonly session_id: string;
  readonly sha256: string;
  readonly opened_with: "code" | "token";
  readonly address: string | null;
  readonly user_agent: string | null;
  readonly seconds: number;
}

export async function insertSession(db: Queryable, session: NewSession): Promise<void> {
  await db.query(
    `DELETE FROM dagapp.console_sessions
     WHERE least(expires_at, ended_at) < now() - interval '30 days'`,
  );
  await db.query(
    `INSERT INTO dagapp.console_sessions (session_id, sha256, name, access, opened_with,
       token_sha256, address, user_agent, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, now() + make_interval(secs => $9))`,
    [
      session.session_id,
      session.sha256,
      session.name,
      session.access,
      session.opened_with,
      session.token_sha256,
      session.address,
      session.user_agent,
      session.seconds,
    ],
  );
}

export async function recordSessionUse(db: Queryable, sessionId: string): Promise<void> {
  await db.query("UPDATE dagapp.console_sessions SET last_seen_at = now() WHERE session_id = $1", [
    sessionId,
  ]);
}

/** Ends a session; a second call changes nothing. Answers false when there is no such session. */
export async function endSession(db: Queryable, sessionId: string, by: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE dagapp.console_sessions
     SET ended_at = coalesce(ended_at, now()), ended_by = coalesce(ended_by, $2)
     WHERE session_id = $1`,
    [sessionId, by],
  );
  return rowCount === 1;
}

export interface NewToken {
  readonly token_id: string;
  readonly name: string;
  readonly sha256: string;
  readonly access: readonly Access[];
  readonly queues: readonly string[] | null;
  readonly handlers: readonly string[] | null;
  readonly created_by: string;
  readonly expires_at: Date;
}

/** False: a usable token has this name. One that has expired gives its name up. */
export async function insertToken(tx: Transaction, token: NewToken): Promise<boolean> {
  await tx.query(
    `UPDATE dagapp.access_tokens SET revoked_at = now(), revoked_by = $2
     WHERE name = $1 AND revoked_at IS NULL AND expires_at <= now()`,
    [token.name, token.created_by],
  );
  const { rowCount } = await tx.query(
    `INSERT INTO dagapp.access_tokens
       (token_id, name, sha256, access, created_by, expires_at, queues, handlers)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
     ON CONFLICT (name) WHERE revoked_at IS NULL DO NOTHING`,
    [
      token.token_id,
      token.name,
      token.sha256,
      token.access,
      token.created_by,
      token.expires_at,
      token.queues,
      token.handlers,
    ],
  );
  return rowCount === 1;
}

export async function recordTokenUse(db: Queryable, sha256: string): Promise<void> {
  await db.query("UPDATE dagapp.access_tokens SET last_used_at = now() WHERE sha256 = $1", [
    sha256,
  ]);
}

/** Revokes a token; a second call changes nothing. Answers false when there is no such token. */
export async function revokeToken(db: Queryable, tokenId: string, by: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE dagapp.access_tokens
     SET revoked_at = coalesce(revoked_at, now()), revoked_by = coalesce(revoked_by, $2)
     WHERE token_id = $1`,
    [tokenId, by],
  );
  return rowCount === 1;
}

function requireRow<R>(rows: readonly R[]): R {
  const row = rows[0];
  if (row === undefined) throw new Error("The database answered without a row.");
  return row;
}
