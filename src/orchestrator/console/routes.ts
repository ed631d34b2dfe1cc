import type { AccessPolicy } from "../../adapters/http/access.ts";
import { sessionCookie } from "../../adapters/http/access.ts";
import type { ApiRequest, Caller, Handlers } from "../../adapters/http/handler.ts";
import { Answer } from "../../adapters/http/handler.ts";
import type { StaticFiles } from "../../adapters/http/static-files.ts";
import type { Contract } from "../../core/api/contract.ts";
import type { uiContracts } from "../../core/api/ui.ts";
import { Problem } from "../../core/errors.ts";

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
  /** The built console. */
  readonly uiFiles: StaticFiles;
}

export function consoleRoutes({ access, uiFiles }: ConsoleRouteDeps): Handlers<typeof uiContracts> {
  async function serve(name: string, request: Pick<ApiRequest<Contract>, "header">) {
    const header = (wanted: string) => request.header(wanted);
    const headers = { "content-security-policy": policy, "referrer-policy": "same-origin" };
    const answer = await uiFiles.answer(name, header, headers);
    if (answer !== undefined) return answer;
    throw new Problem("NOT_FOUND", "The user interface is not built here: run `npm run build`.");
  }

  return {
    getSession: async ({ caller }) => describe(caller),

    startSession: async ({ body: { token } }) => {
      const caller = await access.authenticate(token);
      if (caller === undefined)
        throw new Problem("UNAUTHENTICATED", "The token is not known here.");
      return new Answer(describe(caller), { headers: { "set-cookie": cookie(token) } });
    },

    endSession: async () =>
      new Answer(describe(undefined), { headers: { "set-cookie": `${cookie("")}; Max-Age=0` } }),

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

function cookie(token: string): string {
  return `${sessionCookie}=${encodeURIComponent(token)}; Path=/; HttpOnly; SameSite=Strict`;
}
