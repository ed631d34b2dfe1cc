import { errorCode } from "../../adapters/runtime/error-code.ts";
import { Problem } from "../../core/errors.ts";

/** A token that can be read and names no place of this list: the database cannot compare with it. */
export function badToken(token: string | undefined): (error: unknown) => never {
  return (error) => {
    const isData = errorCode(error)?.startsWith("22") === true;
    if (token === undefined || !isData) throw error;
    throw new Problem("BAD_REQUEST", "The token is not one of this list.", [
      { pointer: "/query/token", code: "CURSOR", message: "must be of a `next` link of this list" },
    ]);
  };
}
