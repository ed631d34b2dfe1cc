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
 * Writes the audit event of an operator's command. A command belongs to no job, so the event gets an
 * id of its own in place of the job's: a stream of one event, numbered without a gap like every other.
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

/** Makes every orchestrator read the workflow files again, this one included. */
export async function notifyCaches(db: Queryable): Promise<void> {
  await db.query(`SELECT pg_notify('${cachesChannel}', '')`);
}
