/**
 * Addresses of the console. wouter keeps the history; this file adds the base path, the query and the
 * focus. Every path here is relative to `base`, such as `/jobs/x`.
 */
import { useMemo } from "react";
import type { AroundNavHandler } from "wouter";
import { navigate as changeAddress, useSearch } from "wouter/use-browser-location";

export const base = "/ui";

/** wouter joins the base and `/` to `/ui/`; the address of the dashboard is `/ui`. */
export function trimSlash(address: string): string {
  return address === `${base}/` ? base : address;
}

/**
 * Wraps every navigation by a link or by `navigate`. Back and forward do not pass here: the browser
 * restores their scroll position itself.
 */
export const visit: AroundNavHandler = (change, to, options) => {
  const before = window.location.pathname;
  change(trimSlash(to), options);
  if (window.location.pathname === before) return;
  window.scrollTo(0, 0);
  focusMain();
};

/**
 * Moves the focus to the new page, so that keyboards and screen readers start at its head. A frame
 * may take long: if the user has focused another element in the meantime, the focus stays there.
 */
function focusMain(): void {
  const before = document.activeElement;
  requestAnimationFrame(() => {
    const now = document.activeElement;
    if (now !== before && now !== document.body) return;
    document.getElementById("main")?.focus({ preventScroll: true });
  });
}

/**
 * Gives the focus back to the element that had it before a dialog. If that element is gone, the page
 * gets it; an element that the user or the page has focused since keeps it.
 */
export function focusAgain(before: Element | null): void {
  requestAnimationFrame(() => {
    if (document.activeElement !== null && document.activeElement !== document.body) return;
    if (before instanceof HTMLElement && before.isConnected) before.focus();
    if (document.activeElement === document.body) {
      document.getElementById("main")?.focus({ preventScroll: true });
    }
  });
}

export function navigate(to: string, options: { readonly replace?: boolean } = {}): void {
  visit(changeAddress, base + to, options);
}

/** wouter's own `useSearch` decodes the text before it is parsed, which breaks values with a `%`. */
export function useSearchParams(): URLSearchParams {
  const search = useSearch();
  return useMemo(() => new URLSearchParams(search), [search]);
}

/** Changes some parameters and keeps the others; an empty value removes its parameter. */
export function setSearchParams(changes: Readonly<Record<string, string | undefined>>): void {
  const query = new URLSearchParams(window.location.search);
  for (const [key, value] of Object.entries(changes)) {
    if (value === undefined || value === "") query.delete(key);
    else query.set(key, value);
  }
  const text = query.toString();
  const path = window.location.pathname.slice(base.length);
  navigate(path + (text === "" ? "" : `?${text}`), { replace: true });
}
