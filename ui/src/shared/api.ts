/** The typed client of the contracts, over the browser's fetch and its session cookie. */
import { ApiError } from "../../../src/core/api/api-error.ts";
import type { Client } from "../../../src/core/api/client.ts";
import { createClient } from "../../../src/core/api/client.ts";
import type { Access } from "../../../src/core/api/contract.ts";
import type { Fetch } from "../../../src/core/api/fetch.ts";
import { problem } from "../../../src/core/api/schemas.ts";
import type { ErrorCode } from "../../../src/core/errors.ts";
import { errorCatalogue } from "../../../src/core/errors.ts";
import { createStore } from "./store.ts";

export { ApiError };

/** Does the server answer? `down` shows a banner on every page until it does again. */
export const connection = createStore<"up" | "down">("up");

export interface Session {
  readonly name: string | null;
  readonly access: readonly Access[];
}

/** Undefined until the server has said who we are; a name of null is nobody: sign in. */
export const session = createStore<Session | undefined>(undefined);

const nobody: Session = { name: null, access: [] };

const send: Fetch = async (url, init) => {
  try {
    const answer = await fetch(url, { ...init, credentials: "same-origin" });
    // A proxy answers 502 or 504 for a server that is gone.
    connection.set(answer.status === 502 || answer.status === 504 ? "down" : "up");
    if (answer.status === 401 && !url.endsWith("/api/v1/session")) session.set(nobody);
    return answer;
  } catch (error) {
    if (init.signal?.aborted !== true) connection.set("down");
    throw error;
  }
};

export const api: Client = createClient({ baseUrl: window.location.origin, fetch: send });

/** What no contract types as JSON for the client, such as what a TileJSON address answers. */
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

export async function loadSession(): Promise<void> {
  session.set(await api.getSession());
}

export async function signIn(token: string): Promise<void> {
  session.set(await api.startSession({ body: { token } }));
}

/** A proxy in front of the server may know us still. */
export async function signOut(): Promise<void> {
  await api.endSession();
  await loadSession();
}

/** An error in words for people: never a stack. */
export function explain(error: unknown): string {
  if (error instanceof ApiError) return error.detail;
  return error instanceof Error ? error.message : "Something went wrong in this page.";
}
