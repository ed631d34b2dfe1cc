/** For `.catch` on what may not be there; every other failure stays one. */
export function ignoreMissing(error: unknown): undefined {
  const code = (error as { code?: string }).code;
  if (code === "ENOENT" || code === "ENOTDIR") return undefined;
  throw error;
}
