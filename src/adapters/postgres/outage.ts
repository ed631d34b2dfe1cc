/**
 * True when the database cannot be reached or cannot work now, false when it refused a statement.
 * The classes are broken connections, servers that stop, start or fail over, and limits that may be
 * free a moment later.
 */
import { errorCode } from "../runtime/error-code.ts";

export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = errorCode(error);
  if (code !== undefined) {
    return /^(08|53|57|58|25006|40|XX)/.test(code) || /^E[A-Z]+$/.test(code);
  }
  // The driver's own errors carry no code.
  return /timeout|Connection terminated|connection/i.test(error.message);
}
