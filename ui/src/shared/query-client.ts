/** The cache of what was read from the API: TanStack Query with the settings of this console. */
import { QueryClient } from "@tanstack/react-query";
import { connection, session } from "./api.ts";

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // An error is shown at once. Polled queries try again by their interval, all others when the
      // server answers again (below) or by the button of the notice.
      retry: false,
      // `connection` follows what the server answers; the browser's own opinion is not asked.
      networkMode: "always",
      refetchOnWindowFocus: false,
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

// The next user must not see what the last one read.
session.watch(() => {
  if (session.get()?.name === null) queryClient.clear();
});
