import { PermanentError } from "../../errors.ts";

/**
 * The same error, with the name of the file in the archive where a submitter can act on it. Undefined:
 * the archive has no other file.
 */
export function ofFile(title: string | undefined, error: unknown): unknown {
  if (title === undefined || !(error instanceof PermanentError)) return error;
  const { code, details } = error;
  return new PermanentError(`${title}: ${error.message}`, {
    code,
    ...(details === undefined ? {} : { details }),
  });
}
