import { createStore, useStore } from "./store.ts";
import { Icon } from "./icon.tsx";

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly tone: "good" | "bad";
}

const toasts = createStore<readonly Toast[]>([]);
let lastId = 0;

/** Shows a message for 4 seconds, an error for 10. */
export function showToast(text: string, tone: Toast["tone"] = "good"): void {
  lastId += 1;
  const toast = { id: lastId, text, tone };
  toasts.set([...toasts.get(), toast].slice(-3));
  window.setTimeout(
    () => {
      toasts.set(toasts.get().filter(({ id }) => id !== toast.id));
    },
    tone === "good" ? 4000 : 10_000,
  );
}

export function Toasts() {
  const shown = useStore(toasts);
  return (
    <div className="toasts" role="status" aria-live="polite">
      {shown.map(({ id, text, tone }) => (
        <div key={id} className="toast" data-tone={tone}>
          <Icon name={tone === "good" ? "check" : "warning"} />
          {text}
        </div>
      ))}
    </div>
  );
}
