import { baseOf } from "../../adapters/http/base-url.ts";
import type { Handlers } from "../../adapters/http/handler.ts";
import { Answer } from "../../adapters/http/handler.ts";
import type { signInContracts } from "../../core/api/sign-in.ts";
import type { SignInDeps } from "./deps.ts";
import { requireCaller } from "./deps.ts";
import { makeLoginCode } from "./login-codes.ts";
import { revokeSession, showSessions } from "./sessions.ts";
import { createToken, revokeToken, showTokens } from "./tokens.ts";

export interface SignInRouteDeps {
  readonly signIn: SignInDeps;
}

/** Login codes, sessions of the console, and tokens for the API. */
export function signInRoutes({ signIn }: SignInRouteDeps): Handlers<typeof signInContracts> {
  return {
    createLoginCode: async (request) => {
      const { access, next } = request.body;
      const made = await makeLoginCode(signIn, requireCaller(request.caller), access);
      // Behind #, so that the code reaches no server and no log before the page sends it.
      const parts = new URLSearchParams({ code: made.code, ...(next && { next }) });
      return new Answer(
        { ...made, url: `${baseOf(request)}/ui/login#${parts.toString()}` },
        { status: 201 },
      );
    },
    listSessions: async ({ caller }) => ({
      items: await showSessions(signIn, caller),
      next_cursor: null,
    }),
    revokeSession: async ({ params, caller }) =>
      revokeSession(signIn, params.session_id, requireCaller(caller)),
    listTokens: async () => ({ items: await showTokens(signIn), next_cursor: null }),
    createToken: async ({ body, caller }) =>
      new Answer(await createToken(signIn, body, requireCaller(caller)), { status: 201 }),
    revokeToken: async ({ params, caller }) =>
      revokeToken(signIn, params.token_id, requireCaller(caller)),
  };
}
