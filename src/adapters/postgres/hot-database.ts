import { openDatabase } from "./database.ts";
import type { Database } from "./database.ts";

/**
 * Connections for the statements that run all the time: ticks, leases, reports.
 *
 * - A prepared plan is made when the tables are empty, where scanning them whole or hashing them
 *   looks cheapest, and is kept when they hold a hundred thousand rows (measured: 20 ms a tick
 *   instead of 1). Every statement here has an index to walk, so nothing else is offered.
 * - Plans are made once and never again: planning these statements costs more than running them.
 */
const settings = [
  "enable_seqscan=off",
  "enable_bitmapscan=off",
  "enable_hashjoin=off",
  "enable_mergejoin=off",
  // It remembers rows by key, and no key comes twice here.
  "enable_memoize=off",
  "plan_cache_mode=force_generic_plan",
  "jit=off",
];

export interface HotDatabaseOptions {
  readonly url: string;
  readonly applicationName: string;
  readonly max?: number;
  readonly onConnectionLost?: (error: Error) => void;
}

/** Nothing else may run on them: a statement that needs another plan would suffer. */
export function openHotDatabase(options: HotDatabaseOptions): Database {
  return open(options, settings);
}

/**
 * For what only leases, settles and reports. Its commits need not wait for the disk: what a crash of
 * the server loses is done again, and whoever acts on it commits durably later in the same log.
 */
export function openLeaseDatabase(options: HotDatabaseOptions): Database {
  return open(options, ["synchronous_commit=off", ...settings]);
}

function open(options: HotDatabaseOptions, wanted: readonly string[]): Database {
  const url = new URL(options.url);
  const given = url.searchParams.get("options");
  const ours = wanted.map((setting) => `-c ${setting}`).join(" ");
  url.searchParams.set("options", given === null ? ours : `${given} ${ours}`);
  return openDatabase({ ...options, url: url.href, max: options.max ?? 4 });
}
