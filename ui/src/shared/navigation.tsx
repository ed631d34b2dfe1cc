/** Addresses: the History API, and nothing more. Every path here is below /ui. */
import type { AnchorHTMLAttributes, MouseEvent, ReactNode } from "react";
import { useMemo } from "react";
import { createStore, useStore } from "./store.ts";

export const base = "/ui";

export interface Place {
  /** Below the base, such as `/jobs/x`. */
  readonly path: string;
  readonly query: URLSearchParams;
}

const place = createStore<string>(window.location.pathname + window.location.search);

window.addEventListener("popstate", () => {
  place.set(window.location.pathname + window.location.search);
});

export function navigate(to: string, options: { replace?: boolean } = {}): void {
  const url = base + (to === "/" ? "" : to);
  if (options.replace === true) window.history.replaceState(null, "", url);
  else window.history.pushState(null, "", url);
  const moved = place.get().split("?")[0] !== url.split("?")[0];
  place.set(window.location.pathname + window.location.search);
  if (!moved) return;
  window.scrollTo(0, 0);
  // The focus follows to the new page, so that a keyboard or a screen reader starts at its head; but
  // a frame may take long, and what somebody has gone to in the meantime is not taken from them.
  const before = document.activeElement;
  requestAnimationFrame(() => {
    const now = document.activeElement;
    if (now !== before && now !== document.body) return;
    document.getElementById("main")?.focus({ preventScroll: true });
  });
}

export function usePlace(): Place {
  const current = useStore(place);
  return useMemo(() => {
    const [path = "", search = ""] = current.split("?");
    const below = path.startsWith(base) ? path.slice(base.length) : path;
    return { path: below.replace(/\/+$/, "") || "/", query: new URLSearchParams(search) };
  }, [current]);
}

/** Changes some of the query and keeps the rest; an empty value removes its key. */
export function setQuery(changes: Readonly<Record<string, string | undefined>>): void {
  const query = new URLSearchParams(window.location.search);
  for (const [key, value] of Object.entries(changes)) {
    if (value === undefined || value === "") query.delete(key);
    else query.set(key, value);
  }
  const text = query.toString();
  navigate(window.location.pathname.slice(base.length) + (text === "" ? "" : `?${text}`), {
    replace: true,
  });
}

export function Link({
  to,
  children,
  ...rest
}: { to: string; children: ReactNode } & Omit<AnchorHTMLAttributes<HTMLAnchorElement>, "href">) {
  function follow(event: MouseEvent<HTMLAnchorElement>) {
    rest.onClick?.(event);
    const elsewhere = event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
    if (event.defaultPrevented || event.button !== 0 || elsewhere) return;
    event.preventDefault();
    navigate(to);
  }
  return (
    <a {...rest} href={base + (to === "/" ? "" : to)} onClick={follow}>
      {children}
    </a>
  );
}

/** `/jobs/:id` against `/jobs/x` gives `{ id: "x" }`. */
export function matchPath(pattern: string, path: string): Record<string, string> | undefined {
  const wanted = pattern.split("/");
  const given = path.split("/");
  if (wanted.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [at, part] of wanted.entries()) {
    const actual = given[at] ?? "";
    if (part.startsWith(":")) params[part.slice(1)] = decodeURIComponent(actual);
    else if (part !== actual) return undefined;
  }
  return params;
}
