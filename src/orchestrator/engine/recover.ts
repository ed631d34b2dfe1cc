import {
  failDeadLettered,
  failLost,
  failOverdue,
} from "../../adapters/postgres/repositories/recovery.ts";
import type { EngineDeps } from "./deps.ts";

export interface Recovered {
  readonly deadLettered: number;
  readonly overdue: number;
  readonly lost: number;
}

/** Whatever went wrong outside becomes an ordinary failed result, and the evaluator decides. */
export async function recover(deps: Pick<EngineDeps, "db" | "ownerId">): Promise<Recovered> {
  return {
    deadLettered: await failDeadLettered(deps.db),
    overdue: await failOverdue(deps.db),
    lost: await failLost(deps.db, deps.ownerId),
  };
}
