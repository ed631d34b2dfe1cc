import pg from "pg";

const int8 = 20;

type Parser = (value: string) => unknown;
/** The driver types the oid as an enum of the built-in types; ours arrive here too. */
const parserOf = pg.types.getTypeParser as (oid: number, format?: "text" | "binary") => Parser;

/** The driver's own parsers, except that int8 becomes a number. */
export const types = {
  getTypeParser(oid: number, format?: "text" | "binary"): Parser {
    if (oid === int8 && format !== "binary") return parseInt8;
    return parserOf(oid, format);
  },
};

/**
 * The driver gives int8 as a string, which then fails in a sum or a comparison far away. Counts and
 * sequences stay below 2^53; a value that does not is an error here and not a wrong number there.
 */
function parseInt8(value: string): number {
  const parsed = Number(value);
  if (Number.isSafeInteger(parsed)) return parsed;
  throw new RangeError(
    `The database returned ${value}, which a JavaScript number cannot hold exactly: select it as text.`,
  );
}
