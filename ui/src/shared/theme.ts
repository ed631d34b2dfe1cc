import { createStore, readSetting, writeSetting } from "./store.ts";

export type Theme = "light" | "dark";

const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");

/** The user's own choice, otherwise the browser's. */
function chooseTheme(): Theme {
  return readSetting<Theme | null>("theme", null) ?? (prefersDark.matches ? "dark" : "light");
}

export const theme = createStore<Theme>(chooseTheme());

function applyTheme(): void {
  document.documentElement.dataset["theme"] = theme.get();
}

export function startTheme(): void {
  applyTheme();
  theme.watch(applyTheme);
  prefersDark.addEventListener("change", () => {
    theme.set(chooseTheme());
  });
}

export function toggleTheme(): void {
  const next = theme.get() === "dark" ? "light" : "dark";
  writeSetting("theme", next);
  theme.set(next);
}
