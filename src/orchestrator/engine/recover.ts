import {
  failDeadLettered,
  failLost,
  failOverdue,
} from "../../adapters/postgres/repositories/recovery.ts";
import { reach } from "../../adapters/runtime/fail-points.ts";
import type { EngineDeps } from "./deps.ts";

export interface Recovered {
  readonly deadLettered: number;
  readonly overdue: number;
  readonly lost: number;
}

export interface RecoverOptions {
  /** How long a dispatched task may be without a trace before its message counts as gone. */
  readonly messageLostSeconds: number;
}

/** Whatever went wrong outside becomes an ordinary failed result, and the evaluator decides. */
export async function recover(
  deps: Pick<EngineDeps, "db" | "ownerId">,
  { messageLostSeconds }: RecoverOptions = { messageLostSeconds: 300 },
): Promise<Recovered> {
  reach("recover.before");
  const deadLettered = await failDeadLettered(deps.db);
  if (deadLettered > 0) reach("recover.dead_letters_told");
  const overdue = await failOverdue(deps.db);
  const lost = await failLost(deps.db, deps.ownerId, messageLostSeconds);
  if (deadLettered + overdue + lost > 0) reach("recover.after");
  return { deadLettered, overdue, lost };
}
