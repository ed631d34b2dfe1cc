import { randomUUID } from "node:crypto";
import type { Json } from "../../../core/model/json.ts";
import { cachesChannel } from "../channels.ts";
import type { Queryable } from "../queryable.ts";

export interface CommandRun {
  readonly name: string;
  readonly caller: string;
  readonly input: Json;
  readonly ok: boolean;
  readonly detail?: string | undefined;
}

/**
 * The audit event of a command. It belongs to no job, so it stands alone under a name of its own:
 * a stream of one event, numbered without a gap like every other.
 */
export async function recordCommand(db: Queryable, run: CommandRun): Promise<string> {
  const auditId = `command_${randomUUID()}`;
  await db.query(
    `INSERT INTO dagapp.dag_job_events (job_id, seq, event_type, event_status, event_data)
     VALUES ($1, 1, 'command', $2, $3)`,
    [auditId, run.ok ? "success" : "error", JSON.stringify(run)],
  );
  return auditId;
}

/** Every orchestrator hears it, this one among them. */
export async function notifyCaches(db: Queryable): Promise<void> {
  await db.query(`SELECT pg_notify('${cachesChannel}', '')`);
}
