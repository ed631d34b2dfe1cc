import { randomBytes } from "node:crypto";
import type { Caller } from "../../adapters/http/handler.ts";
import { isExpired } from "../../adapters/http/tokens.ts";
import { findToken, listTokens } from "../../adapters/postgres/queries/sign-in.ts";
import {
  insertToken,
  recordTokenUse,
  revokeToken as writeRevocation,
} from "../../adapters/postgres/repositories/sign-in.ts";
import type { Access } from "../../core/api/contract.ts";
import type { AccessToken } from "../../core/api/sign-in.ts";
import { Problem } from "../../core/errors.ts";
import type { SignInDeps } from "./deps.ts";
import { hashSecret, makeSecret, refuseMore } from "./deps.ts";

/** Texts of another form are not looked up. */
const pattern = /^rmht_[\w-]{43}$/;
const dayMs = 86_400_000;
const defaultDays = 90;
const mostDays = 366;

/** The caller who has a token of the database, or undefined if it is unknown, revoked or expired. */
export async function findTokenCaller(
  { db }: Pick<SignInDeps, "db">,
  token: string,
): Promise<Caller | undefined> {
  if (!pattern.test(token)) return undefined;
  const tokenSha256 = hashSecret(token);
  const found = await findToken(db, tokenSha256);
  if (found === undefined) return undefined;
  if (found.is_stale) await recordTokenUse(db, tokenSha256);
  const { name, access, queues, handlers } = found;
  return { name, access, tokenSha256, confined: { queues, handlers } };
}

/** Those of the configuration first: most of them never expire. */
export async function showTokens({ db, tokens, clock }: SignInDeps): Promise<AccessToken[]> {
  const configured = tokens.map((token): AccessToken => ({
    token_id: null,
    source: "configuration",
    name: token.name,
    access: [...token.access],
    queues: null,
    handlers: null,
    created_at: null,
    created_by: null,
    expires_at: token.expiresAt?.toISOString() ?? null,
    last_used_at: null,
    revoked_at: null,
    revoked_by: null,
    usable: !isExpired(token, clock),
  }));
  return [...configured, ...(await listTokens(db))];
}

export interface TokenRequest {
  readonly name: string;
  readonly access: readonly Access[];
  readonly queues?: readonly string[] | undefined;
  readonly handlers?: readonly string[] | undefined;
  readonly expires_at?: string | undefined;
}

/** The answer is the only place that ever contains the token: the table holds its hash. */
export async function createToken(
  deps: SignInDeps,
  { name, access, queues, handlers, expires_at }: TokenRequest,
  caller: Caller,
): Promise<AccessToken & { readonly token: string }> {
  refuseMore(caller, access);
  if ((queues ?? handlers) !== undefined && !(access.length === 1 && access[0] === "work")) {
    throw new Problem("BAD_REQUEST", "Only a token whose access is `work` alone can be confined.");
  }
  const token = `rmht_${makeSecret()}`;
  const token_id = randomBytes(6).toString("hex");
  if (deps.tokens.some((each) => each.name === name)) refuseName(name);
  await deps.db.transaction(async (tx) => {
    const made = await insertToken(tx, {
      token_id,
      name,
      access: [...new Set(access)],
      queues: queues ?? null,
      handlers: handlers ?? null,
      sha256: hashSecret(token),
      created_by: caller.name,
      expires_at: expiryOf(expires_at, deps.clock.now()),
    });
    if (!made) refuseName(name);
  });
  return { ...(await requireToken(deps, token_id)), token };
}

export async function revokeToken(
  deps: SignInDeps,
  tokenId: string,
  caller: Caller,
): Promise<AccessToken> {
  await writeRevocation(deps.db, tokenId, caller.name);
  return requireToken(deps, tokenId);
}

function refuseName(name: string): never {
  throw new Problem(
    "TOKEN_NAME_TAKEN",
    `There is a valid token "${name}", and the history tells tokens apart by their names: ` +
      "revoke it, or choose another name.",
  );
}

function expiryOf(text: string | undefined, now: Date): Date {
  const limit = now.getTime() + mostDays * dayMs;
  const wanted = text === undefined ? now.getTime() + defaultDays * dayMs : Date.parse(text);
  const message =
    wanted <= now.getTime()
      ? "is in the past"
      : wanted > limit
        ? `is more than ${mostDays} days away`
        : undefined;
  if (message === undefined) return new Date(wanted);
  throw new Problem("BAD_REQUEST", "The expiry of the token is not possible.", [
    { pointer: "/expires_at", code: "EXPIRY", message },
  ]);
}

async function requireToken(deps: SignInDeps, tokenId: string): Promise<AccessToken> {
  const found = (await listTokens(deps.db)).find(({ token_id }) => token_id === tokenId);
  if (found === undefined) throw new Problem("NOT_FOUND", `There is no token "${tokenId}".`);
  return found;
}
