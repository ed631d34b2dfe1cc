import { openDatabase } from "../../postgres/database.ts";
import type { Database } from "../../postgres/database.ts";

/**
 * Settings for the statements that only lease, settle and report.
 *
 * - Their commits need not wait for the disk: what a crash of the server loses is done again, and
 *   whoever acts on it commits durably later in the same log.
 * - A prepared plan is made when the tables are empty, where scanning them whole looks cheapest, and
 *   is kept when they hold a hundred thousand rows. Every statement here has an index to walk.
 */
const settings = [
  "synchronous_commit=off",
  "enable_seqscan=off",
  "enable_bitmapscan=off",
  "plan_cache_mode=force_generic_plan",
  "jit=off",
];

export interface LeaseDatabaseOptions {
  readonly url: string;
  readonly applicationName: string;
  readonly max?: number;
  readonly onConnectionLost?: (error: Error) => void;
}

/** Connections of their own for leases and reports: nothing else may run on them. */
export function openLeaseDatabase(options: LeaseDatabaseOptions): Database {
  const url = new URL(options.url);
  const given = url.searchParams.get("options");
  const ours = settings.map((setting) => `-c ${setting}`).join(" ");
  url.searchParams.set("options", given === null ? ours : `${given} ${ours}`);
  return openDatabase({ ...options, url: url.href, max: options.max ?? 4 });
}
