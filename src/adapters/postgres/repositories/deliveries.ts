import { failuresToOpen } from "../../../core/domain/partner-callbacks.ts";
import { callbacksChannel } from "../channels.ts";
import type { Queryable, Transaction } from "../queryable.ts";

/** A callback that this process has taken to send it. */
export interface TakenDelivery {
  readonly event_id: string;
  readonly event_type: string;
  readonly url: string;
  readonly host: string;
  readonly body: string;
  /** The name of a further address. */
  readonly callback_name: string | null;
  /** This attempt's number, from 1. */
  readonly attempts: number;
  readonly trace_parent: string | null;
  /** Names the allowed hosts and the secret; null: the settings for jobs without a platform. */
  readonly platform: DeliveryPlatform | null;
}

/** A further address of the platform. */
interface DeliveryAddress {
  readonly name: string;
  readonly secret_number: number;
  readonly secret_is_new: boolean;
}

export interface DeliveryPlatform {
  readonly platform_id: string;
  readonly callback_hosts: readonly string[];
  readonly secret_number: number;
  /** The secret was changed less than a day ago: the one before is still valid. */
  readonly secret_is_new: boolean;
  /** Null: the address of the request or of the platform itself. */
  readonly address: DeliveryAddress | null;
}

/**
 * Takes due callbacks for one minute: if the sender dies, another sender takes them after that. The
 * circuit breaker of a host skips it until `open_until`; a host that failed often then gets a single
 * callback as a trial.
 */
export async function takeDeliveries(db: Queryable, limit: number): Promise<TakenDelivery[]> {
  const { rows } = await db.query<TakenDelivery>(
    `WITH due AS (
       SELECT d.event_id,
         coalesce(h.failures, 0) >= $2 AS on_trial,
         row_number() OVER (PARTITION BY d.host ORDER BY d.next_attempt_at, d.event_id) AS place
       FROM dagapp.callback_deliveries d LEFT JOIN dagapp.callback_hosts h USING (host)
       WHERE d.state = 'pending' AND d.next_attempt_at <= now()
         AND (d.taken_until IS NULL OR d.taken_until < now())
         AND (h.open_until IS NULL OR h.open_until <= now())),
     taken AS (
       SELECT d.event_id FROM dagapp.callback_deliveries d JOIN due USING (event_id)
       WHERE (place = 1 OR NOT on_trial) AND d.state = 'pending'
         AND (d.taken_until IS NULL OR d.taken_until < now())
       ORDER BY d.next_attempt_at LIMIT $1 FOR UPDATE OF d SKIP LOCKED)
     UPDATE dagapp.callback_deliveries d
     SET attempts = attempts + 1, taken_until = now() + interval '1 minute'
     FROM taken
     WHERE d.event_id = taken.event_id
     RETURNING d.event_id, d.event_type, d.url, d.host, d.body, d.attempts, d.trace_parent,
       d.callback_name,
       (SELECT jsonb_build_object('platform_id', p.platform_id,
          'callback_hosts', p.callback_hosts, 'secret_number', p.secret_number,
          'secret_is_new', coalesce(p.secret_changed_at > now() - interval '1 day', false),
          'address', (SELECT jsonb_build_object('name', c.name, 'secret_number', c.secret_number,
            'secret_is_new', coalesce(c.secret_changed_at > now() - interval '1 day', false))
            FROM dagapp.platform_callbacks c
            WHERE c.platform_id = d.platform_id AND c.name = d.callback_name AND c.is_active))
        FROM dagapp.platforms p WHERE p.platform_id = d.platform_id) AS platform`,
    [limit, failuresToOpen],
  );
  return rows;
}

export interface AttemptOutcome {
  readonly status_code: number | null;
  /** Null: the host accepted the callback. */
  readonly error: string | null;
  readonly duration_ms: number;
  /** Null: no further attempt. */
  readonly retry_seconds: number | null;
}

export function recordAttempt(
  tx: Transaction,
  { event_id, attempts }: TakenDelivery,
  { status_code, error, duration_ms, retry_seconds }: AttemptOutcome,
): void {
  tx.send(
    `INSERT INTO dagapp.callback_attempts (event_id, attempt, status_code, error, duration_ms)
     VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`,
    [event_id, attempts, status_code, error, duration_ms],
  );
  const state = error === null ? "delivered" : retry_seconds === null ? "exhausted" : "pending";
  tx.send(
    `UPDATE dagapp.callback_deliveries SET state = $2::dagapp.delivery_state, last_error = $3,
       taken_until = NULL, delivered_at = CASE WHEN $2 = 'delivered' THEN now() END,
       next_attempt_at = now() + make_interval(secs => $4)
     WHERE event_id = $1`,
    [event_id, state, error, retry_seconds ?? 0],
  );
}

/** Counts consecutive failures of a host; `openSeconds` answers for how long to skip it then. */
export async function recordHost(
  tx: Transaction,
  host: string,
  ok: boolean,
  openSeconds: (failures: number) => number | undefined,
): Promise<void> {
  const { rows } = await tx.query<{ failures: number }>(
    `INSERT INTO dagapp.callback_hosts (host, failures) VALUES ($1, $2)
     ON CONFLICT (host) DO UPDATE SET open_until = NULL,
       failures = CASE WHEN $2 = 0 THEN 0 ELSE callback_hosts.failures + 1 END
     RETURNING failures`,
    [host, ok ? 0 : 1],
  );
  const seconds = openSeconds(rows[0]?.failures ?? 0);
  if (seconds === undefined) return;
  tx.send(
    `UPDATE dagapp.callback_hosts SET open_until = now() + make_interval(secs => $2)
     WHERE host = $1`,
    [host, seconds],
  );
}

/** Sends a callback again, delivered or not. Answers false when there is no such event. */
export async function requeueDelivery(db: Queryable, eventId: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `WITH woken AS (SELECT pg_notify('${callbacksChannel}', ''))
     UPDATE dagapp.callback_deliveries SET state = 'pending', delivered_at = NULL,
       next_attempt_at = now(), taken_until = NULL
     FROM woken WHERE event_id = $1`,
    [eventId],
  );
  return rowCount === 1;
}

/** Answers in how many milliseconds the next callback is due; null: none is pending. */
export async function nextDueMs(db: Queryable): Promise<number | null> {
  const { rows } = await db.query<{ due: number | null }>(
    `SELECT (extract(epoch FROM min(greatest(d.next_attempt_at, d.taken_until, h.open_until))
       - now()) * 1000)::float8 AS due
     FROM dagapp.callback_deliveries d LEFT JOIN dagapp.callback_hosts h USING (host)
     WHERE d.state = 'pending'`,
  );
  return rows[0]?.due ?? null;
}
