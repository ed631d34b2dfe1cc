import { useSyncExternalStore } from "react";

/** The same width as in the styles. */
const query = window.matchMedia("(width < 1000px)");

function watch(listener: () => void): () => void {
  query.addEventListener("change", listener);
  return () => {
    query.removeEventListener("change", listener);
  };
}

/** Whether the page is too narrow for long rows. */
export function useNarrow(): boolean {
  return useSyncExternalStore(watch, () => query.matches);
}
