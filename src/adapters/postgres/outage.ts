/**
 * True when the database cannot be reached or cannot work now, false when it refused a statement.
 * The classes are broken connections, servers that stop, start or fail over, and limits that may be
 * free a moment later.
 */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { code?: unknown };
  if (typeof code === "string") {
    return /^(08|53|57|58|25006|40|XX)/.test(code) || /^E[A-Z]+$/.test(code);
  }
  // The driver's own errors carry no code.
  return /timeout|Connection terminated|connection/i.test(error.message);
}
