/** Keys that work everywhere. `g` waits for a second key. */
import { useEffect } from "react";
import { reloadAll } from "../shared/query-client.ts";
import { navigate } from "../shared/navigation.tsx";

export const shortcuts: readonly { keys: string; does: string }[] = [
  { keys: "g h", does: "Home: the dashboard" },
  { keys: "g j", does: "Jobs" },
  { keys: "g w", does: "Workflows" },
  { keys: "g a", does: "Assets" },
  { keys: "g c", does: "Catalogue" },
  { keys: "g f", does: "Fleet" },
  { keys: "r", does: "Read this page again" },
  { keys: "/", does: "Search" },
  { keys: "t", does: "Light or dark" },
  { keys: "?", does: "These keys" },
  { keys: "Esc", does: "Close what is open" },
];

const places: Readonly<Record<string, string>> = {
  h: "/",
  j: "/jobs",
  w: "/workflows",
  a: "/assets",
  c: "/catalogue",
  f: "/fleet",
};

/** How long `g` waits for its second key. */
const waitMs = 1500;

export function useKeyboard(actions: { help: () => void; theme: () => void }): void {
  const { help, theme } = actions;
  useEffect(() => {
    let going: number | undefined;
    function take(event: KeyboardEvent): void {
      if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) return;
      if (document.querySelector("dialog[open]") !== null) return;
      if (going !== undefined) {
        window.clearTimeout(going);
        going = undefined;
        const place = Object.hasOwn(places, event.key) ? places[event.key] : undefined;
        if (place !== undefined) navigate(place);
        return;
      }
      if (event.key === "g") {
        going = window.setTimeout(() => {
          going = undefined;
        }, waitMs);
      } else if (event.key === "r") reloadAll();
      else if (event.key === "t") theme();
      else if (event.key === "?") help();
      else if (event.key === "/") {
        event.preventDefault();
        document.getElementById("search")?.focus();
      }
    }
    window.addEventListener("keydown", take);
    return () => {
      window.removeEventListener("keydown", take);
    };
  }, [help, theme]);
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
