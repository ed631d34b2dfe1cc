import type { AccessPolicy } from "../../adapters/http/access.ts";
import { refuseForeignOrigin } from "../../adapters/http/access.ts";
import type { ApiRequest, Caller, Handlers } from "../../adapters/http/handler.ts";
import { Answer } from "../../adapters/http/handler.ts";
import { sessionCookie } from "../../adapters/http/session-cookie.ts";
import type { StaticFiles } from "../../adapters/http/static-files.ts";
import type { Contract } from "../../core/api/contract.ts";
import type { uiContracts } from "../../core/api/ui.ts";
import { Problem } from "../../core/errors.ts";
import type { SignInDeps } from "../sign-in/deps.ts";
import type { Browser, OpenedSession } from "../sign-in/sessions.ts";
import { openSessionWithCode, openSessionWithToken, revokeSession } from "../sign-in/sessions.ts";

/** Scripts and styles come from files of this server only. Maps draw from blobs. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "worker-src 'self' blob:",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join("; ");

export interface ConsoleRouteDeps {
  readonly access: AccessPolicy;
  readonly signIn: SignInDeps;
  /** The built console. */
  readonly uiFiles: StaticFiles;
}

export function consoleRoutes({
  access,
  signIn,
  uiFiles,
}: ConsoleRouteDeps): Handlers<typeof uiContracts> {
  async function serve(name: string, request: Pick<ApiRequest<Contract>, "header">) {
    const header = (wanted: string) => request.header(wanted);
    const headers = { "content-security-policy": policy, "referrer-policy": "same-origin" };
    const answer = await uiFiles.answer(name, header, headers);
    if (answer !== undefined) return answer;
    throw new Problem("NOT_FOUND", "The user interface is not built here: run `npm run build`.");
  }

  async function openSession(
    given: { readonly code: string } | { readonly token: string },
    browser: Browser,
  ): Promise<OpenedSession> {
    if ("code" in given) return openSessionWithCode(signIn, given.code, browser);
    const caller = await access.authenticate(given.token);
    if (caller === undefined) throw new Problem("UNAUTHENTICATED", "The token is not known here.");
    return openSessionWithToken(signIn, caller, browser);
  }

  return {
    getSession: async ({ caller }) => describe(caller),

    startSession: async (request) => {
      // No page of another site may sign its own user in here: what is then done would be its.
      refuseForeignOrigin({
        changes: true,
        origin: request.header("origin"),
        host: request.header("x-forwarded-host") ?? request.header("host"),
      });
      const { secret, seconds, caller } = await openSession(request.body, browserOf(request));
      const header = (name: string) => request.header(name);
      return new Answer(describe(caller), {
        headers: sessionCookie(header, { value: secret, seconds }),
      });
    },

    endSession: async (request) => {
      const { caller } = request;
      if (caller?.sessionId !== undefined) await revokeSession(signIn, caller.sessionId, caller);
      const header = (name: string) => request.header(name);
      return new Answer(describe(undefined), { headers: sessionCookie(header, undefined) });
    },

    root: async () => new Answer("", { status: 303, headers: { location: "/ui" } }),
    uiHome: async (request) => serve("index.html", request),

    uiFile: async (request) => {
      const { path } = request.params;
      if (uiFiles.has(path)) return serve(path, request);
      // A file with a hash in its name that is missing is of another build. Answering it with the page
      // would make the browser run HTML as a script.
      if (path.startsWith("files/")) {
        throw new Problem("NOT_FOUND", "This file is of another version: load the page again.");
      }
      return serve("index.html", request);
    },
  };
}

function describe(caller: Caller | undefined) {
  return { name: caller?.name ?? null, access: [...(caller?.access ?? [])] };
}

const mostUserAgent = 256;

function browserOf(request: Pick<ApiRequest<Contract>, "header" | "remoteAddress">): Browser {
  return {
    address: request.remoteAddress ?? null,
    user_agent: request.header("user-agent")?.slice(0, mostUserAgent) ?? null,
  };
}
