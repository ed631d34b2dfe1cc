/** The cache of what was read from the API: TanStack Query with the settings of this console. */
import { QueryClient, focusManager } from "@tanstack/react-query";
import { ApiError, connection, session } from "./api.ts";

/** How often a query is read again during an outage behind the server. */
const outageMs = 3000;

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // An error is shown at once. Polled queries try again by their interval, all others when the
      // server answers again (below) or by the button of the notice.
      retry: false,
      // `connection` follows what the server answers; the browser's own opinion is not asked.
      networkMode: "always",
      refetchOnWindowFocus: false,
      // The server answers, but what it needs is away: it says so with 503.
      refetchInterval: ({ state: { error } }) =>
        error instanceof ApiError && error.status >= 502 ? outageMs : false,
    },
  },
});

/** Marks every query whose key begins with these parts as stale and reads those on the screen again. */
export function invalidate(...queryKey: readonly unknown[]): void {
  void queryClient.invalidateQueries({ queryKey });
}

/** Reads everything on the screen again. */
export function refetchAll(): void {
  void queryClient.refetchQueries({ type: "active" });
}

connection.watch(() => {
  if (connection.get() === "down") return;
  void queryClient.refetchQueries({
    type: "active",
    predicate: ({ state }) => state.status === "error",
  });
});

let reader: string | null = null;
let wasEnded = false;

session.watch(() => {
  const { name = null, hasEnded = false } = session.get() ?? {};
  // Nothing is polled until the user has signed in again.
  focusManager.setFocused(hasEnded ? false : undefined);
  if (!hasEnded) {
    // The next user must not see what the last one read.
    if (name !== reader) queryClient.clear();
    else if (wasEnded) refetchAll();
    reader = name;
  }
  wasEnded = hasEnded;
});
