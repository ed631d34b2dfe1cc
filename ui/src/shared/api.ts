/** The typed client of the contracts, over the browser's fetch and its session cookie. */
import { ApiError } from "../../../src/core/api/api-error.ts";
import type { Client } from "../../../src/core/api/client.ts";
import { createClient } from "../../../src/core/api/client.ts";
import type { Access } from "../../../src/core/api/contract.ts";
import type { Fetch } from "../../../src/core/api/fetch.ts";
import { problem } from "../../../src/core/api/schemas.ts";
import type { ErrorCode } from "../../../src/core/errors.ts";
import { errorCatalogue } from "../../../src/core/errors.ts";
import { createStore, useStore } from "./store.ts";

export { ApiError };

/** Whether the server answered the last request; every page shows a banner while it is `down`. */
export const connection = createStore<"up" | "down">("up");

export interface Session {
  /** Null: not signed in. */
  readonly name: string | null;
  readonly access: readonly Access[];
  /** The session has ended without a sign-out: the page stays, so that signing in again loses nothing. */
  readonly hasEnded?: boolean;
}

/** Undefined until the server has answered the first time. */
export const session = createStore<Session | undefined>(undefined);

const signedOut: Session = { name: null, access: [] };
const ended: Session = { ...signedOut, hasEnded: true };

export function useAccess(access: Access): boolean {
  return useStore(session)?.access.includes(access) ?? false;
}

const send: Fetch = async (url, init) => {
  try {
    const answer = await fetch(url, { ...init, credentials: "same-origin" });
    // A proxy answers 502 or 504 for a server that is gone.
    connection.set(answer.status === 502 || answer.status === 504 ? "down" : "up");
    if (answer.status === 401 && !url.endsWith("/api/v1/session")) setSession(signedOut);
    return answer;
  } catch (error) {
    if (init.signal?.aborted !== true) connection.set("down");
    throw error;
  }
};

export const api: Client = createClient({ baseUrl: window.location.origin, fetch: send });

/** Reads JSON that no contract describes, such as a TileJSON document. */
export async function getJson(path: string, signal?: AbortSignal): Promise<unknown> {
  const answer = await send(new URL(path, window.location.origin).href, {
    method: "GET",
    headers: { accept: "application/json" },
    ...(signal === undefined ? {} : { signal }),
  });
  const text = await answer.text();
  if (answer.status < 400) return JSON.parse(text) as unknown;
  const parsed = problem.safeParse(tryParse(text));
  if (parsed.success && Object.hasOwn(errorCatalogue, parsed.data.code)) {
    throw new ApiError(parsed.data.code as ErrorCode, answer.status, parsed.data.detail);
  }
  throw new ApiError("UNREACHABLE", answer.status, `Answered ${answer.status} without saying why.`);
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function setSession(found: Session): void {
  const before = session.get();
  const wasSignedIn = typeof before?.name === "string" || before?.hasEnded === true;
  session.set(found.name === null && wasSignedIn ? ended : found);
}

export async function loadSession(): Promise<void> {
  setSession(await api.getSession());
}

/** Login codes have a form of their own, so a field can take a code or a token. */
const codePattern = /^[0-9a-z]{4}(?:-?[0-9a-z]{4}){3}$/i;

export async function signIn(secret: string): Promise<void> {
  const body = codePattern.test(secret) ? { code: secret } : { token: secret };
  session.set(await api.startSession({ body }));
}

/** A proxy in front of the server may sign the user in again at once. */
export async function signOut(): Promise<void> {
  await api.endSession();
  session.set(signedOut);
  await loadSession();
}

/** The text of an error for people: never a stack. */
export function errorText(error: unknown): string {
  if (error instanceof ApiError) return error.detail;
  return error instanceof Error ? error.message : "Something went wrong in this page.";
}
