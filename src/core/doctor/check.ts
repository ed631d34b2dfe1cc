/** One thing that `rmhdag doctor` looked at. A warning is a choice that an operator should know of. */
export interface Check {
  readonly name: string;
  readonly status: "ok" | "warning" | "problem";
  /** What was found, in words. */
  readonly found: string;
  /** What to change; null where nothing is wrong. */
  readonly remedy: string | null;
}

export function ok(name: string, found: string): Check {
  return { name, status: "ok", found, remedy: null };
}

export function warning(name: string, found: string, remedy: string): Check {
  return { name, status: "warning", found, remedy };
}

export function problem(name: string, found: string, remedy: string): Check {
  return { name, status: "problem", found, remedy };
}
