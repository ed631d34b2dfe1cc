/** What the browser remembers for this person; a browser that refuses to remember is no error. */
export function readStored<T>(key: string, fallback: T): T {
  try {
    const text = localStorage.getItem(`rmhdag.${key}`);
    return text === null ? fallback : (JSON.parse(text) as T);
  } catch {
    return fallback;
  }
}

export function writeStored(key: string, value: unknown): void {
  try {
    localStorage.setItem(`rmhdag.${key}`, JSON.stringify(value));
  } catch {
    // Private windows and full disks: the setting lasts as long as the page.
  }
}
