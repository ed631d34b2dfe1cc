import type { Database } from "../../../adapters/postgres/database.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";

export function demandDatabase({ database }: HandlerContext): Database {
  if (database !== undefined) return database;
  throw new PermanentError(
    "The catalogue is in the database, and this worker has none: give it DATABASE_URL, or send the task to a queue of workers that have one.",
    { code: "NO_DATABASE" },
  );
}
