import { randomInt } from "node:crypto";
import type { Caller } from "../../adapters/http/handler.ts";
import { insertLoginCode } from "../../adapters/postgres/repositories/sign-in.ts";
import type { Access } from "../../core/api/contract.ts";
import type { SignInDeps } from "./deps.ts";
import { hashSecret, refuseMore } from "./deps.ts";

export interface NewLoginCode {
  readonly code: string;
  readonly access: readonly Access[];
  readonly expires_at: string;
}

/**
 * Makes a code that opens one session with rights of the caller. Without a choice these are all of
 * them but `service`, which is for programs.
 */
export async function makeLoginCode(
  { db, limits }: SignInDeps,
  caller: Caller,
  wanted: readonly Access[] | undefined,
): Promise<NewLoginCode> {
  const access = [
    ...new Set(wanted ?? caller.access.filter((each) => each !== "service" && each !== "work")),
  ];
  refuseMore(caller, access);
  const code = randomCode();
  const { expires_at } = await insertLoginCode(db, {
    sha256: hashCode(code),
    name: caller.name,
    access,
    token_sha256: caller.tokenSha256 ?? null,
    seconds: limits.codeSeconds,
  });
  return { code, access, expires_at: expires_at.toISOString() };
}

/** 80 random bits in letters and digits that cannot be mistaken for each other. */
const alphabet = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ";

function randomCode(): string {
  const group = () =>
    Array.from({ length: 4 }, () => alphabet[randomInt(alphabet.length)]).join("");
  return [group(), group(), group(), group()].join("-");
}

/** People type codes in small letters and without the hyphens. */
export function hashCode(code: string): string {
  return hashSecret(code.toUpperCase().replaceAll(/[^0-9A-Z]/g, ""));
}
