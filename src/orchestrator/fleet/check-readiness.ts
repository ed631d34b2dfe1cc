/**
 * Whether this orchestrator can do its work now, for load balancers: its database takes a write, its
 * engine ticks, and its storage takes an object. A process that only reads would look well while every
 * submission fails.
 */
import { describeOutage } from "../../adapters/http/outage.ts";
import type { Queryable } from "../../adapters/postgres/queryable.ts";
import { ping, readSchemaStatus } from "../../adapters/postgres/queries/schema.ts";
import { testWrite } from "../../adapters/postgres/repositories/ownership.ts";
import { systemClock } from "../../adapters/runtime/clock.ts";
import type { Storage } from "../../adapters/storage/storage.ts";
import { Problem } from "../../core/errors.ts";

export interface ReadinessDeps {
  readonly db: Queryable;
  readonly storage: Pick<Storage, "put">;
  readonly status: () => EngineStatus;
}

export interface EngineStatus {
  readonly owner_id: string;
  readonly started_at: string;
  readonly ticks: number;
  readonly last_tick_at: string | null;
  readonly last_error: string | null;
  /** Jobs that could not be settled and are left out of ticks for a while. */
  readonly quarantined_jobs: number;
}

/** The engine looks for work every second; a tick with thousands of results takes a few. */
export const longestSilenceMs = 60_000;
/** The route is public: requests in between get the same answer. */
const keptMs = { database: 1000, storage: 30_000 };

type Check = () => Promise<string>;
export type ReadinessChecks = ReturnType<typeof createReadinessChecks>;

export function createReadinessChecks({ db, storage, status }: ReadinessDeps) {
  return {
    database: shared(keptMs.database, async () => {
      await ping(db);
      return "ok";
    }),
    schema: shared(keptMs.database, async () => {
      const { version, needed, current } = await readSchemaStatus(db);
      if (current) return `version ${version}`;
      throw new NotReady(`it is at version ${version} and ${needed} is needed`);
    }),
    writing: shared(keptMs.database, async () => {
      await testWrite(db, status().owner_id);
      return "ok";
    }),
    engine: async () => {
      const age = tickAge(status());
      if (age <= longestSilenceMs) return "ok";
      throw new NotReady(`its last tick was ${Math.round(age / 1000)} s ago`);
    },
    storage: shared(keptMs.storage, async () => {
      const path = `results/readiness/${status().owner_id.replaceAll(/[^\w.-]/g, "_")}`;
      await storage.put(path, new Uint8Array([1]));
      return "ok";
    }),
  } satisfies Record<string, Check>;
}

/** Resolves with the result of each check, and throws where one failed. */
export async function checkReadiness(checks: ReadinessChecks): Promise<Record<string, string>> {
  const results: Record<string, string> = {};
  for (const [name, check] of Object.entries(checks)) {
    results[name] = await check().catch((error: unknown) => {
      throw new Problem("UNAVAILABLE", `The check \`${name}\` failed: ${reasonOf(error)}`);
    });
  }
  return results;
}

/** Why a check fails; undefined if it passes. */
export async function failureOf(check: Check): Promise<string | undefined> {
  return check().then(() => undefined, reasonOf);
}

class NotReady extends Error {}

/** The route is public, so texts of the database and of the file system are not passed on. */
function reasonOf(error: unknown): string {
  if (error instanceof NotReady) return `${error.message}.`;
  return (error instanceof Error ? describeOutage(error) : undefined) ?? "It does not work.";
}

/** Milliseconds since the last tick, or since the start where there was none. */
export function tickAge({ last_tick_at, started_at }: EngineStatus): number {
  return systemClock.now().getTime() - Date.parse(last_tick_at ?? started_at);
}

/** Answers the same promise for a while, so that probes that come at once cost one check. */
function shared(ms: number, check: Check): Check {
  let until = -Infinity;
  let kept: Promise<string> | undefined;
  return () => {
    if (kept === undefined || performance.now() >= until) {
      until = performance.now() + ms;
      kept = check();
    }
    return kept;
  };
}
