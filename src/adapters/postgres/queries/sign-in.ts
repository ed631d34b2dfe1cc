import type { Access } from "../../../core/api/contract.ts";
import type { AccessToken, ConsoleSession } from "../../../core/api/sign-in.ts";
import type { Queryable } from "../queryable.ts";

interface Found {
  readonly name: string;
  readonly access: readonly Access[];
  /** True: the time of its last use is older than a minute, and is written again. */
  readonly is_stale: boolean;
}

export interface FoundSession extends Found {
  readonly session_id: string;
  readonly token_sha256: string | null;
}

/** A session counts while it is used, for a limited time, and no longer than its token. */
export interface SessionRules {
  readonly idleSeconds: number;
  /** Hashes of the valid tokens of the configuration. */
  readonly configured: readonly string[];
}

/** $1: seconds without a request. $2: hashes of the configuration's tokens. */
const isActive = `ended_at IS NULL AND expires_at > now()
  AND last_seen_at > now() - make_interval(secs => $1)
  AND (token_sha256 IS NULL OR token_sha256 = ANY ($2)
    OR EXISTS (SELECT FROM dagapp.access_tokens t WHERE t.sha256 = token_sha256
      AND t.revoked_at IS NULL AND t.expires_at > now()))`;

export async function findSession(
  db: Queryable,
  sha256: string,
  { idleSeconds, configured }: SessionRules,
): Promise<FoundSession | undefined> {
  const { rows } = await db.query<FoundSession>(
    `SELECT session_id, name, access, token_sha256,
       last_seen_at < now() - interval '1 minute' AS is_stale
     FROM dagapp.console_sessions WHERE ${isActive} AND sha256 = $3`,
    [idleSeconds, configured, sha256],
    "console_find_session",
  );
  return rows[0];
}

interface FoundToken extends Found {
  readonly queues: string[] | null;
  readonly handlers: string[] | null;
}

export async function findToken(db: Queryable, sha256: string): Promise<FoundToken | undefined> {
  const { rows } = await db.query<FoundToken>(
    `SELECT name, access, queues, handlers,
       last_used_at IS NULL OR last_used_at < now() - interval '1 minute' AS is_stale
     FROM dagapp.access_tokens WHERE sha256 = $1 AND revoked_at IS NULL AND expires_at > now()`,
    [sha256],
    "console_find_token",
  );
  return rows[0];
}

type Times<T, Keys extends keyof T> = Omit<T, Keys> & Record<Keys, Date | null>;

export async function listSessions(
  db: Queryable,
  { idleSeconds, configured }: SessionRules,
): Promise<Omit<ConsoleSession, "current">[]> {
  type Row = Times<
    Omit<ConsoleSession, "current">,
    "created_at" | "last_seen_at" | "expires_at" | "ended_at"
  >;
  const { rows } = await db.query<Row>(
    `SELECT session_id, name, access, opened_with, address, user_agent, created_at, last_seen_at,
       expires_at, ended_at, ended_by, ${isActive} AS active
     FROM dagapp.console_sessions WHERE created_at > now() - interval '30 days'
     ORDER BY created_at DESC, session_id LIMIT 500`,
    [idleSeconds, configured],
  );
  return rows.map((row) => ({
    ...row,
    created_at: text(row.created_at),
    last_seen_at: text(row.last_seen_at),
    expires_at: text(row.expires_at),
    ended_at: row.ended_at?.toISOString() ?? null,
  }));
}

export async function listTokens(db: Queryable): Promise<AccessToken[]> {
  type Row = Times<AccessToken, "created_at" | "expires_at" | "last_used_at" | "revoked_at">;
  const { rows } = await db.query<Row>(
    `SELECT token_id, 'database' AS source, name, access, queues, handlers, created_at, created_by, expires_at,
       last_used_at, revoked_at, revoked_by, revoked_at IS NULL AND expires_at > now() AS usable
     FROM dagapp.access_tokens ORDER BY created_at DESC, token_id LIMIT 1000`,
  );
  return rows.map((row) => ({
    ...row,
    created_at: text(row.created_at),
    expires_at: text(row.expires_at),
    last_used_at: row.last_used_at?.toISOString() ?? null,
    revoked_at: row.revoked_at?.toISOString() ?? null,
  }));
}

function text(time: Date | null): string {
  return time?.toISOString() ?? "";
}
