import { randomBytes } from "node:crypto";
import type { Caller } from "../../adapters/http/handler.ts";
import type { Queryable } from "../../adapters/postgres/queryable.ts";
import { findSession, listSessions } from "../../adapters/postgres/queries/sign-in.ts";
import type { Grant } from "../../adapters/postgres/repositories/sign-in.ts";
import {
  endSession,
  insertSession,
  recordSessionUse,
  useLoginCode,
} from "../../adapters/postgres/repositories/sign-in.ts";
import type { ConsoleSession } from "../../core/api/sign-in.ts";
import { Problem } from "../../core/errors.ts";
import type { SignInDeps, SignInLimits } from "./deps.ts";
import { hashSecret, makeSecret, rulesOf } from "./deps.ts";
import { hashCode } from "./login-codes.ts";

/** Where a session is opened from, as its list shows it. */
export interface Browser {
  readonly address: string | null;
  readonly user_agent: string | null;
}

export interface OpenedSession {
  /** For the cookie; the database holds its hash. */
  readonly secret: string;
  readonly seconds: number;
  readonly caller: Caller;
}

/** A code works once: of two requests with the same code one opens a session. */
export async function openSessionWithCode(
  deps: SignInDeps,
  code: string,
  browser: Browser,
): Promise<OpenedSession> {
  return deps.db.transaction(async (tx) => {
    const grant = await useLoginCode(tx, hashCode(code));
    if (grant === undefined) {
      throw new Problem(
        "UNAUTHENTICATED",
        "The code is wrong, was used already, or is too old: `rmhdag login-code` makes a new one.",
      );
    }
    return open(tx, deps.limits, grant, { opened_with: "code", ...browser });
  });
}

export async function openSessionWithToken(
  deps: SignInDeps,
  caller: Caller,
  browser: Browser,
): Promise<OpenedSession> {
  const grant = { ...caller, token_sha256: caller.tokenSha256 ?? null };
  return open(deps.db, deps.limits, grant, { opened_with: "token", ...browser });
}

async function open(
  db: Queryable,
  { sessionSeconds }: SignInLimits,
  { name, access, token_sha256 }: Grant,
  opened: Browser & { readonly opened_with: "code" | "token" },
): Promise<OpenedSession> {
  const secret = makeSecret();
  const session_id = randomBytes(8).toString("hex");
  await insertSession(db, {
    session_id,
    sha256: hashSecret(secret),
    name,
    access,
    token_sha256,
    ...opened,
    seconds: sessionSeconds,
  });
  return { secret, seconds: sessionSeconds, caller: { name, access, sessionId: session_id } };
}

/** The caller whose browser sends this secret, or undefined if its session is over. */
export async function findSessionCaller(
  deps: SignInDeps,
  secret: string,
): Promise<Caller | undefined> {
  const found = await findSession(deps.db, hashSecret(secret), rulesOf(deps));
  if (found === undefined) return undefined;
  const { session_id, name, access, token_sha256 } = found;
  if (found.is_stale) await recordSessionUse(deps.db, session_id);
  return {
    name,
    access,
    sessionId: session_id,
    ...(token_sha256 === null ? {} : { tokenSha256: token_sha256 }),
  };
}

export async function showSessions(
  deps: SignInDeps,
  caller: Caller | undefined,
): Promise<ConsoleSession[]> {
  const sessions = await listSessions(deps.db, rulesOf(deps));
  return sessions.map((session) => ({
    ...session,
    current: session.session_id === caller?.sessionId,
  }));
}

export async function revokeSession(
  deps: SignInDeps,
  sessionId: string,
  caller: Caller,
): Promise<ConsoleSession> {
  const ended = await endSession(deps.db, sessionId, caller.name);
  const sessions = ended ? await showSessions(deps, caller) : [];
  const session = sessions.find((each) => each.session_id === sessionId);
  if (session === undefined) throw new Problem("NOT_FOUND", `There is no session "${sessionId}".`);
  return session;
}
