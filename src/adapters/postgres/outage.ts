/**
 * True when the database cannot be reached or cannot work now, false when it refused a statement.
 * The classes are broken connections, servers that stop, start or fail over, and limits that may be
 * free a moment later.
 */
import { errorCode, hasErrorCode } from "../runtime/error-code.ts";

export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = errorCode(error);
  if (code !== undefined) {
    return /^(08|53|57|58|25006|40|55P03|XX)/.test(code) || /^E[A-Z]+$/.test(code);
  }
  // The driver's own errors carry no code.
  return /timeout|Connection terminated|connection/i.test(error.message);
}

/** The driver gave a statement up, and the state of its connection is unknown. */
export function isReadTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === "Query read timeout";
}

/** Another transaction was in the way: a deadlock, a conflict, a locked row. */
export function isConflict(error: unknown): boolean {
  return /^(?:40|55P03)/.test(errorCode(error) ?? "");
}

/** A statement waited longer than `lock_timeout` for a row that another session has locked. */
export function isLockTimeout(error: unknown): boolean {
  return hasErrorCode(error, "55P03");
}
