/**
 * Renews leases in a separate thread with its own connection: a handler that keeps the main thread
 * busy for minutes must not lose its message.
 *
 * A lease is renewed when a third of its time has passed, or half of it at the latest; one statement
 * renews all that are due. A timer wakes this thread, not each new lease: when no lease is held, or all
 * are settled sooner, no statement runs at all.
 */
import { connectOptions } from "../../../postgres/connect-options.ts";
import { parentPort, workerData } from "node:worker_threads";
import pg from "pg";
import { LeaseTable, sharedNow } from "./lease-table.ts";
import { leaseKey } from "./renewal-protocol.ts";
import type { FromThread, HeldLease, ThreadData, ToThread } from "./renewal-protocol.ts";

interface Held extends HeldLease {
  readonly since: number;
  renewedAt: number;
}

const renewSql = `
UPDATE dagapp.dag_queue_leases AS lease SET until = now() + held.lease_ms * interval '1 ms'
FROM unnest($1::bigint[], $2::integer[], $3::integer[]) AS held(id, count, lease_ms)
WHERE lease.message_id = held.id AND lease.deliveries = held.count
RETURNING lease.message_id::float8 AS message_id, lease.deliveries, lease.cancelled`;

const answerTimeoutMs = 5000;
const longestPauseMs = 1000;

const options = workerData as ThreadData;
const tables = options.tables.map((buffer) => new LeaseTable(buffer));
const held = new Map<string, Held>();
/** Leases that were posted as ended and that the main thread has not dropped yet. */
const ended = new Set<string>();
let shortestMs = options.lease_ms;
let client: pg.Client | undefined;
let timer: NodeJS.Timeout | undefined;
let running: Promise<void> | undefined;
let renewAll = false;

function post(message: FromThread): void {
  parentPort?.postMessage(message);
}

parentPort?.on("message", (message: ToThread) => {
  switch (message.kind) {
    case "table":
      tables.push(new LeaseTable(message.buffer));
      return;
    case "lease_ms":
      shortestMs = Math.min(message.lease_ms, shortestMs ?? Infinity);
      schedule();
      return;
    case "renew_now":
      renewAll = true;
      schedule();
      return;
    case "stop":
      void stop();
  }
});
schedule();

function schedule(): void {
  if (running !== undefined) return;
  clearTimeout(timer);
  if (renewAll) timer = setTimeout(start, 0);
  else if (shortestMs !== undefined) timer = setTimeout(start, shortestMs / 6);
}

function start(): void {
  running = renewDue().finally(() => {
    running = undefined;
    schedule();
  });
}

/** Copies the shared tables: adds new leases, and forgets those that the main thread dropped. */
function readTables(): void {
  const present = new Set<string>();
  for (const lease of tables.flatMap((table) => table.read())) {
    const key = leaseKey(lease);
    present.add(key);
    if (!held.has(key) && !ended.has(key)) held.set(key, { ...lease, renewedAt: lease.since });
  }
  for (const key of held.keys()) if (!present.has(key)) held.delete(key);
  for (const key of ended) if (!present.has(key)) ended.delete(key);
}

function end(key: string, lease: Held, cause: "lost" | "held_too_long"): void {
  held.delete(key);
  ended.add(key);
  post({ kind: "ended", lease: token(lease), cause });
}

async function renewDue(): Promise<void> {
  readTables();
  const now = sharedNow();
  const all = renewAll;
  renewAll = false;
  const due: Held[] = [];
  for (const [key, lease] of held) {
    if (now - lease.since >= lease.hold_ms) end(key, lease, "held_too_long");
    else if (all || now - lease.renewedAt >= lease.lease_ms / 3) due.push(lease);
  }
  if (due.length === 0) return;
  try {
    applyRenewed(due, await renew(due), now);
  } catch (error) {
    renewAll ||= all;
    post({ kind: "failed", message: error instanceof Error ? error.message : String(error) });
    disconnect();
    // A short pause: the leases expire while the database is away.
    const pauseMs = Math.min(longestPauseMs, ...due.map((lease) => lease.lease_ms / 10));
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

type Renewed = { message_id: number; deliveries: number; cancelled: boolean }[];

async function renew(due: readonly Held[]): Promise<Renewed> {
  const connected = client ?? (await connect());
  // By message id, as in sql/settle.ts: two statements on the same leases cannot deadlock.
  const ordered = [...due].sort((a, b) => a.message_id - b.message_id);
  const { rows } = await connected.query<Renewed[number]>(renewSql, [
    ordered.map((lease) => lease.message_id),
    ordered.map((lease) => lease.deliveries),
    ordered.map((lease) => lease.lease_ms),
  ]);
  return rows;
}

function applyRenewed(due: readonly Held[], rows: Renewed, at: number): void {
  const renewed = new Map(rows.map((row) => [leaseKey(row), row]));
  readTables();
  for (const lease of due) {
    const key = leaseKey(lease);
    const row = renewed.get(key);
    if (row !== undefined && !row.cancelled) lease.renewedAt = at;
    // A lease that the main thread settled meanwhile has no row and is not held: it is not lost.
    else if (held.get(key) === lease) {
      // A cancelled lease is renewed further, so that its handler has time to stop.
      if (row === undefined) end(key, lease, "lost");
      else {
        lease.renewedAt = at;
        post({ kind: "ended", lease: token(lease), cause: "cancelled" });
      }
    }
  }
}

function token({ message_id, deliveries }: Held) {
  return { message_id, deliveries };
}

async function connect(): Promise<pg.Client> {
  const fresh = new pg.Client({
    ...connectOptions(options.url),
    application_name: options.applicationName,
    connectionTimeoutMillis: answerTimeoutMs,
    query_timeout: answerTimeoutMs,
    keepAlive: true,
  });
  fresh.on("error", () => {
    if (client === fresh) client = undefined;
  });
  await fresh.connect();
  await fresh.query("SET synchronous_commit = off");
  return (client = fresh);
}

function disconnect(): void {
  const old = client;
  client = undefined;
  old?.end().catch(() => undefined);
}

async function stop(): Promise<void> {
  tables.length = 0;
  shortestMs = undefined;
  clearTimeout(timer);
  await client?.end().catch(() => undefined);
  parentPort?.close();
}
