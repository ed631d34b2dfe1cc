import type { Database } from "../../adapters/postgres/database.ts";
import type { HandlerContext } from "../define-handler.ts";
import { PermanentError } from "../errors.ts";

/** Fails the task for good on a worker that reports over HTTP and has no database. */
export function requireDatabase({ database }: HandlerContext): Database {
  if (database !== undefined) return database;
  throw new PermanentError(
    "This handler works on the database, and this worker has none: give it DATABASE_URL, or send the task to a queue of workers that have one.",
    { code: "NO_DATABASE" },
  );
}
