/**
 * The `code` of an unknown error: a name such as ENOENT from Node, an SQLSTATE from PostgreSQL, or
 * the code of one of our own errors.
 */
export function errorCode(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  const { code } = error;
  return typeof code === "string" ? code : undefined;
}

export function hasErrorCode(error: unknown, ...codes: readonly string[]): boolean {
  const code = errorCode(error);
  return code !== undefined && codes.includes(code);
}

/** For `.catch` on a file that may be missing: answers undefined, and throws every other error. */
export function ignoreMissing(error: unknown): undefined {
  if (!hasErrorCode(error, "ENOENT", "ENOTDIR")) throw error;
}
