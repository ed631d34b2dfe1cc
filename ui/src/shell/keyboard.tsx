/** Keys that work on every page. `g` waits for a second key. */
import { useEffect } from "react";
import { Dialog } from "../shared/dialog.tsx";
import { navigate } from "../shared/navigation.ts";
import { refetchAll } from "../shared/query-client.ts";
import { toggleTheme } from "../shared/theme.ts";

const shortcuts: readonly { keys: string; does: string }[] = [
  { keys: "g h", does: "Home: the dashboard" },
  { keys: "g j", does: "Jobs" },
  { keys: "g n", does: "Nodes of all jobs" },
  { keys: "g t", does: "Tasks of all jobs" },
  { keys: "g w", does: "Workflows" },
  { keys: "g e", does: "Handlers: what workers execute" },
  { keys: "g a", does: "Assets" },
  { keys: "g c", does: "Catalogue" },
  { keys: "g x", does: "H3: data sets by hexagon" },
  { keys: "g l", does: "Lineage" },
  { keys: "g d", does: "Storage: files and folders" },
  { keys: "g f", does: "Fleet" },
  { keys: "g s", does: "Access: sessions and tokens" },
  { keys: "r", does: "Reload the data of this page" },
  { keys: "/", does: "Search" },
  { keys: "t", does: "Light or dark" },
  { keys: "?", does: "These keys" },
  { keys: "Esc", does: "Close the panel or dialog" },
];

const pages: Readonly<Record<string, string>> = {
  h: "/",
  j: "/jobs",
  n: "/nodes",
  t: "/tasks",
  w: "/workflows",
  e: "/handlers",
  a: "/assets",
  c: "/catalogue",
  x: "/h3",
  l: "/lineage",
  d: "/storage",
  f: "/fleet",
  s: "/access",
};

/** How long `g` waits for its second key. */
const secondKeyMs = 1500;

export function useKeyboard({ onHelp }: { onHelp: () => void }): void {
  useEffect(() => {
    let goTimer: number | undefined;
    function onKeyDown(event: KeyboardEvent): void {
      if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) return;
      if (document.querySelector("dialog[open]") !== null) return;
      if (goTimer !== undefined) {
        window.clearTimeout(goTimer);
        goTimer = undefined;
        const page = Object.hasOwn(pages, event.key) ? pages[event.key] : undefined;
        if (page !== undefined) navigate(page);
        return;
      }
      if (event.key === "g") {
        goTimer = window.setTimeout(() => {
          goTimer = undefined;
        }, secondKeyMs);
      } else if (event.key === "r") refetchAll();
      else if (event.key === "t") toggleTheme();
      else if (event.key === "?") onHelp();
      else if (event.key === "/") {
        event.preventDefault();
        document.getElementById("search")?.focus();
      }
    }
    window.addEventListener("keydown", onKeyDown);
    return () => {
      window.removeEventListener("keydown", onKeyDown);
    };
  }, [onHelp]);
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

export function KeyHelp({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl className="keys">
        {shortcuts.map(({ keys, does }) => (
          <div key={keys}>
            <dt>
              {keys.split(" ").map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <div className="dialog-foot">
        <span />
        <button className="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
