import { baseOf } from "../../adapters/http/base-url.ts";
import type { ApiRequest } from "../../adapters/http/handler.ts";
import { Answer } from "../../adapters/http/handler.ts";
import type { Contract } from "../../core/api/contract.ts";
import { Problem } from "../../core/errors.ts";
import { toQueryText } from "../../core/serving/render-options.ts";

type PageRequest = Pick<ApiRequest<Contract>, "header" | "caller"> & { readonly query: object };

/**
 * Answers a page at `path`. A browser without a session is sent to the console, which lets the person
 * sign in and comes back; every other client gets the problem. A caller with a token that does not
 * suffice gets the problem too: signing in would change nothing.
 *
 * A link on another site also comes without the session, because its cookie is SameSite=Strict: from
 * the console the browser comes back with it.
 */
export async function signInFirst(
  request: PageRequest,
  path: string,
  answer: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await answer();
  } catch (error) {
    const isPage = request.header("accept")?.includes("text/html") === true;
    if (!(error instanceof Problem) || error.code !== "UNAUTHENTICATED") throw error;
    if (!isPage || request.caller !== undefined) throw error;
    const prefix = new URL(baseOf(request)).pathname.replace(/\/$/, "");
    const to = `${prefix}${path}${toQueryText(request.query as Record<string, unknown>)}`;
    const location = `${prefix}/ui/open?to=${encodeURIComponent(to)}`;
    return new Answer("", {
      status: 303,
      headers: { location, "cache-control": "no-store", vary: "accept, cookie, authorization" },
    });
  }
}
