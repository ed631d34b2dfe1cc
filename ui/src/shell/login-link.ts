import { ApiError, errorText, loadSession, session, signIn } from "../shared/api.ts";
import { base } from "../shared/navigation.ts";

/**
 * Follows a login link, `/ui/login#code=…&next=/path`: exchanges its code for a session and goes to the
 * page behind it. The code is taken out of the address first, so that it stays in no history. Answers
 * why the code was refused; undefined without a link, or where the browser has a session already.
 */
export async function followLoginLink(): Promise<string | undefined> {
  const { pathname, hash } = window.location;
  if (pathname !== `${base}/login`) return undefined;
  const link = new URLSearchParams(hash.slice(1));
  const next = pathOf(link.get("next"));
  window.history.replaceState(null, "", next);
  const refusal = await exchange(link.get("code"));
  // A page outside of the console, such as a map, is another document.
  if (refusal === undefined && !isConsole(next)) window.location.reload();
  return refusal;
}

async function exchange(code: string | null): Promise<string | undefined> {
  if (code === null || code === "") return undefined;
  try {
    await signIn(code);
    return undefined;
  } catch (error) {
    if (!(error instanceof ApiError)) return errorText(error);
    await loadSession();
    return typeof session.get()?.name === "string" ? undefined : errorText(error);
  }
}

/** Only a path on this server: a link must not lead elsewhere after the sign-in. */
function pathOf(next: string | null): string {
  return next !== null && /^\/(?![/\\])[^\\\s]*$/.test(next) ? next : base;
}

function isConsole(path: string): boolean {
  return path === base || path.startsWith(`${base}/`) || path.startsWith(`${base}?`);
}
