import { insertEvents } from "../../adapters/postgres/repositories/events.ts";
import {
  claimOrphans,
  deleteStaleOrchestrators,
  deleteStaleWorkers,
} from "../../adapters/postgres/repositories/ownership.ts";
import { reach } from "../../adapters/runtime/fail-points.ts";
import type { EngineDeps } from "./deps.ts";

const batchSize = 200;

export interface TakeOverOptions {
  /** An owner whose heartbeat is older than this counts as gone. */
  readonly thresholdSeconds: number;
}

/** Claims the jobs of owners that are gone, in batches, so that several orchestrators share them. */
export async function takeOver(
  deps: Pick<EngineDeps, "db" | "ownerId">,
  { thresholdSeconds }: TakeOverOptions,
): Promise<number> {
  let total = 0;
  for (;;) {
    const claimed = await deps.db.transaction(async (tx) => {
      const jobs = await claimOrphans(tx, deps.ownerId, thresholdSeconds, batchSize);
      if (jobs.length === 0) return 0;
      insertEvents(
        tx,
        jobs.map(({ job_id, event_seq, previous_owner }) => ({
          job_id,
          seq: event_seq,
          event_type: "job_claimed",
          event_status: "info",
          node_id: null,
          task_id: null,
          event_data: { owner_id: deps.ownerId, previous_owner },
        })),
      );
      reach("take_over.before_commit");
      return jobs.length;
    });
    if (claimed > 0) reach("take_over.after_commit");
    total += claimed;
    if (claimed < batchSize) break;
  }
  await deleteStaleOrchestrators(deps.db, thresholdSeconds);
  await deleteStaleWorkers(deps.db);
  return total;
}
