import { errorCode } from "../runtime/error-code.ts";

const database = "The database does not answer.";
const storage = "The storage cannot be written to.";

/** Codes of PostgreSQL and of Node that pass by themselves or by an operator's work. */
const outages: ReadonlyMap<string, string> = new Map([
  ["25006", "The database is read-only."],
  ["40001", "The database is too busy."],
  ["40P01", "The database is too busy."],
  ["53100", "The disk of the database is full."],
  ["53300", "The database has no connection left."],
  ["55P03", "The database is too busy."],
  ["57014", "The database took too long."],
  ["57P01", database],
  ["57P02", database],
  ["57P03", database],
  ["57P05", database],
  ["ECONNREFUSED", database],
  ["ECONNRESET", database],
  ["EPIPE", database],
  ["ETIMEDOUT", database],
  ["ENOTFOUND", database],
  ["EAI_AGAIN", database],
  ["EHOSTUNREACH", database],
  ["ENETUNREACH", database],
  ["ENOSPC", storage],
  ["EDQUOT", storage],
  ["EROFS", storage],
  ["EIO", storage],
  ["EMFILE", "The process has no file handle left."],
  ["ENFILE", "The machine has no file handle left."],
]);

/** Broken connections, missing resources, and failures of the system below the database. */
const outageClasses = ["08", "53", "58"];

/** The driver's own errors have no code: a lost connection, and both of its time limits. */
const driverMessages =
  /^(?:Connection terminated|Query read timeout|timeout exceeded when trying to connect|timeout expired|Client has encountered a connection error|Client was closed|Cannot use a pool after calling end)/;

/** A sentence that says what does not work; undefined where the error is no outage. */
export function describeOutage(error: Error): string | undefined {
  const code = errorCode(error);
  if (code === undefined) return driverMessages.test(error.message) ? database : undefined;
  const known = outages.get(code);
  if (known !== undefined) return known;
  const isOutage = code.length === 5 && outageClasses.some((each) => code.startsWith(each));
  return isOutage ? database : undefined;
}
