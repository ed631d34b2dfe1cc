import { useSyncExternalStore } from "react";

/** A value that components can subscribe to. */
export interface Store<T> {
  readonly get: () => T;
  readonly set: (next: T) => void;
  readonly watch: (listener: () => void) => () => void;
}

export function createStore<T>(initial: T): Store<T> {
  let value = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set: (next) => {
      if (Object.is(next, value)) return;
      value = next;
      for (const listener of [...listeners]) listener();
    },
    watch: (listener) => {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
  };
}

export function useStore<T>(store: Store<T>): T {
  return useSyncExternalStore(store.watch, store.get);
}

/** Reads a setting from the browser's local storage; a browser that refuses access is no error. */
export function readSetting<T>(key: string, fallback: T): T {
  try {
    const text = localStorage.getItem(`rmhdag.${key}`);
    return text === null ? fallback : (JSON.parse(text) as T);
  } catch {
    return fallback;
  }
}

export function writeSetting(key: string, value: unknown): void {
  try {
    localStorage.setItem(`rmhdag.${key}`, JSON.stringify(value));
  } catch {
    // Private windows and full disks: the setting lasts as long as the page.
  }
}
