import { createStore } from "./store.ts";
import { readStored, writeStored } from "./stored.ts";

export type Theme = "light" | "dark";

const wished = window.matchMedia("(prefers-color-scheme: dark)");

function choose(): Theme {
  return readStored<Theme | null>("theme", null) ?? (wished.matches ? "dark" : "light");
}

export const theme = createStore<Theme>(choose());

function show(): void {
  document.documentElement.dataset["theme"] = theme.get();
}

export function startTheme(): void {
  show();
  theme.watch(show);
  wished.addEventListener("change", () => {
    theme.set(choose());
  });
}

export function toggleTheme(): void {
  const next = theme.get() === "dark" ? "light" : "dark";
  writeStored("theme", next);
  theme.set(next);
}
