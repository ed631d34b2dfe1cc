import pg from "pg";

const int8 = 20;

type Parser = (value: string) => unknown;
/** The driver declares the oid as an enum of the built-in types; our enums have other oids. */
const parserOf = pg.types.getTypeParser as (oid: number, format?: "text" | "binary") => Parser;

/** The driver's own parsers, except that int8 becomes a number. */
export const types = {
  getTypeParser(oid: number, format?: "text" | "binary"): Parser {
    if (oid === int8 && format !== "binary") return parseInt8;
    return parserOf(oid, format);
  },
};

/**
 * The driver answers int8 as a string, which makes sums and comparisons wrong. Counts and sequences
 * stay below 2^53; a larger value is an error here instead of a wrong number later.
 */
function parseInt8(value: string): number {
  const parsed = Number(value);
  if (Number.isSafeInteger(parsed)) return parsed;
  throw new RangeError(
    `The database returned ${value}, which a JavaScript number cannot hold exactly: select it as text.`,
  );
}
