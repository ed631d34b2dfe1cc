import type { Database } from "../../../adapters/postgres/database.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { refuse } from "./refuse.ts";

export function demandDatabase({ database }: HandlerContext): Database {
  if (database !== undefined) return database;
  throw refuse(
    "NO_DATABASE",
    "Vector layers are tables, and this worker has no database: give it DATABASE_URL, or send the task to a queue of workers that have one.",
  );
}
