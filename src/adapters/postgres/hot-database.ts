import { openDatabase } from "./database.ts";
import type { Database } from "./database.ts";

/**
 * Settings for the statements that run all the time: ticks, leases, reports.
 *
 * - PostgreSQL plans a prepared statement when the tables are empty and a sequential scan or a hash
 *   join is estimated cheapest, and keeps that plan when they hold a hundred thousand rows (measured:
 *   20 ms a tick instead of 1). Every statement here has an index, so all other scans and joins are
 *   switched off.
 * - Each statement is planned once per connection: planning these statements costs more than running
 *   them.
 */
const settings = [
  "enable_seqscan=off",
  "enable_bitmapscan=off",
  "enable_hashjoin=off",
  "enable_mergejoin=off",
  // Memoize caches rows by key, and these statements look up each key once.
  "enable_memoize=off",
  "plan_cache_mode=force_generic_plan",
  "jit=off",
  // A session that keeps a row locked would stop every tick behind it. Without the row the statement
  // fails, and its work is done another way: reports go to the inbox, the tick skips the job.
  "lock_timeout=1000",
];

/**
 * A connection that answers nothing for so long is given up: submissions wait for it. These statements
 * take milliseconds, and those that create a hundred thousand children a few seconds.
 */
const queryTimeoutMs = 15_000;

export interface HotDatabaseOptions {
  readonly url: string;
  readonly applicationName: string;
  readonly max?: number;
  readonly onConnectionLost?: (error: Error) => void;
}

/** Run only statements that use an index here: any other would be slow under these settings. */
export function openHotDatabase(options: HotDatabaseOptions): Database {
  return open(options, settings);
}

export interface LeaseDatabaseOptions extends HotDatabaseOptions {
  /**
   * Commits wait for the disk, unless a statement turns that off for itself. It is needed where an outside broker
   * carries the messages: it forgets a message once such a commit has put the lease, the only other copy, on disk.
   */
  readonly isDurable: boolean;
}

/**
 * For transactions that only lease, settle or report. Unless asked to, their commits do not wait for the
 * disk: work that a crash of the server loses is done again, and a tick that acts on it commits durably
 * later in the same write-ahead log.
 */
export function openLeaseDatabase({ isDurable, ...options }: LeaseDatabaseOptions): Database {
  return open(options, isDurable ? settings : ["synchronous_commit=off", ...settings]);
}

/**
 * For the relay to an outside broker. A removal that a crash of the server undoes sends the messages again,
 * so it does not wait for the disk. It waits for locks: one that fails would send its whole batch again.
 */
export function openRelayDatabase(options: HotDatabaseOptions): Database {
  return open(options, ["synchronous_commit=off", ...settings, "lock_timeout=0"]);
}

/**
 * For tiles of vector layers. PostgreSQL estimates the functions of PostGIS as so costly that it starts
 * parallel workers for a tile, which takes ten times as long as the tile, or reads the whole table; and
 * planning such a statement takes as long as running it. A connection ends after some time, because each
 * keeps the plans of all layers that it has shown.
 */
export function openTileDatabase(options: HotDatabaseOptions): Database {
  return open({ max: 10, ...options }, tileSettings, 2000);
}

const tileSettings = [
  "max_parallel_workers_per_gather=0",
  "enable_seqscan=off",
  "plan_cache_mode=force_generic_plan",
  "jit=off",
];

function open(options: HotDatabaseOptions, added: readonly string[], maxUses?: number): Database {
  const url = new URL(options.url);
  const given = url.searchParams.get("options");
  const ours = added.map((setting) => `-c ${setting}`).join(" ");
  url.searchParams.set("options", given === null ? ours : `${given} ${ours}`);
  const { max = 4 } = options;
  return openDatabase({ ...options, url: url.href, max, queryTimeoutMs, maxUses });
}
