import { setTimeout as pause } from "node:timers/promises";
import type { Broker, QueueDepth } from "../../adapters/broker/broker.ts";
import type { Database } from "../../adapters/postgres/database.ts";
import type { WorkerRow } from "../../adapters/postgres/queries/fleet.ts";
import {
  countStuckJobs,
  listOrchestrators,
  listWorkers,
} from "../../adapters/postgres/queries/fleet.ts";
import { listContracts } from "../../adapters/postgres/queries/handlers.ts";
import { readSchemaStatus } from "../../adapters/postgres/queries/schema.ts";
import type { SandboxKind } from "../../core/api/fleet.ts";
import type { JsonObject } from "../../core/model/json.ts";
import { once } from "../../core/once.ts";
import { capacityOf } from "../../core/queue-capacity.ts";
import { failureOf, longestSilenceMs, tickAge } from "./check-readiness.ts";
import type { EngineStatus, ReadinessChecks } from "./check-readiness.ts";

export type State = "ok" | "degraded" | "down";

export interface Part {
  readonly status: State;
  readonly detail: string;
  readonly facts: JsonObject;
}

export interface HealthDeps {
  readonly db: Database;
  readonly broker: Pick<Broker, "capabilities" | "depth" | "outside">;
  readonly queues: () => readonly string[];
  readonly status: () => EngineStatus;
  readonly readiness: Pick<ReadinessChecks, "writing" | "storage">;
}

/** Shorter than the patience of those who ask: a locked table keeps a check for a minute. */
const longestCheckMs = 3000;
const noAnswer: Part = { status: "down", detail: "does not answer", facts: {} };

/**
 * Checks every part of the platform; a check that fails or takes too long marks its part as down and
 * stops no other. A check that is still running is not begun again, so that repeated requests do not
 * take all connections to the database.
 */
export function createHealth(
  given: HealthDeps,
): () => Promise<{ status: State; parts: Record<string, Part> }> {
  const running = new Map<string, Promise<Part>>();

  function run(name: string, check: Check, deps: CheckDeps): Promise<Part> {
    const before = running.get(name);
    if (before !== undefined) return before;
    const part = check(deps)
      .catch(() => noAnswer)
      .finally(() => running.delete(name));
    running.set(name, part);
    return part;
  }

  return async () => {
    const deps: CheckDeps = {
      ...given,
      // Two checks read each of these.
      schemaStatus: once(() => readSchemaStatus(given.db)),
      depths: once(() =>
        Promise.all(
          given.queues().map(async (queue) => ({ queue, depth: await given.broker.depth(queue) })),
        ),
      ),
    };
    const ended = new AbortController();
    const late = pause(longestCheckMs, noAnswer, { signal: ended.signal }).catch(() => noAnswer);
    const entries = await Promise.all(
      Object.entries(checks).map(async ([name, check]): Promise<[string, Part]> => [
        name,
        await Promise.race([run(name, check, deps), late]),
      ]),
    );
    ended.abort();
    const states = entries.map(([, { status }]) => status);
    const status = states.includes("down")
      ? "down"
      : states.includes("degraded")
        ? "degraded"
        : "ok";
    return { status, parts: Object.fromEntries(entries) };
  };
}

interface CheckDeps extends HealthDeps {
  readonly schemaStatus: () => ReturnType<typeof readSchemaStatus>;
  readonly depths: () => Promise<readonly { queue: string; depth: QueueDepth }[]>;
}

type Check = (deps: CheckDeps) => Promise<Part>;

const checks: Record<string, Check> = {
  database: async ({ schemaStatus, readiness }) => {
    const { database, server_version } = await schemaStatus();
    const failure = await failureOf(readiness.writing);
    return {
      status: failure === undefined ? "ok" : "down",
      detail: failure ?? `PostgreSQL ${server_version}`,
      facts: { database, server_version },
    };
  },

  schema: async ({ schemaStatus }) => {
    const { version, needed, current } = await schemaStatus();
    const detail = current ? `version ${version}` : `version ${version}, needs ${needed}: migrate`;
    return { status: current ? "ok" : "down", detail, facts: { version, needed } };
  },

  storage: async ({ readiness }) => {
    const failure = await failureOf(readiness.storage);
    const status = failure === undefined ? "ok" : "down";
    return { status, detail: failure ?? "takes objects", facts: {} };
  },

  broker: async ({ broker, queues, depths }) => {
    const dead = (await depths()).reduce((sum, { depth }) => sum + depth.dead, 0);
    const { name } = broker.capabilities;
    const outside = await broker.outside?.();
    const isAway = outside?.connected === false;
    const detail = [
      isAway ? `${name} is away (${outside.error ?? "not reached yet"})` : name,
      ...(isAway ? [`${outside.unsent} messages wait to be sent`] : []),
      ...(dead > 0 ? [`${dead} dead letters`] : []),
    ].join(", ");
    return {
      status: isAway ? "down" : dead > 0 ? "degraded" : "ok",
      detail,
      facts: { name, dead, queues: [...queues()], ...(outside && { outside: { ...outside } }) },
    };
  },

  orchestrators: async ({ db }) => {
    const all = await listOrchestrators(db);
    const alive = all.filter((each) => each.alive).length;
    const detail = `${alive} of ${all.length} alive`;
    return { status: alive > 0 ? "ok" : "down", detail, facts: { alive, known: all.length } };
  },

  engine: async ({ db, status }) => {
    const [stuck, seconds] = [await countStuckJobs(db), Math.round(tickAge(status()) / 1000)];
    const isStalled = seconds * 1000 > longestSilenceMs;
    const parts = [
      ...(isStalled ? [`the last tick was ${seconds} s ago`] : []),
      ...(stuck > 0 ? [`${stuck} open jobs cannot go on: each shows its error`] : []),
    ];
    return {
      status: isStalled ? "down" : stuck > 0 ? "degraded" : "ok",
      detail: parts.length === 0 ? "ticks" : parts.join("; "),
      facts: { tick_age_seconds: seconds, stuck_jobs: stuck },
    };
  },

  workers: async ({ db, depths }) => {
    const all = await listWorkers(db);
    const alive = all.filter((each) => each.alive);
    const slots = alive.reduce((sum, each) => sum + each.slots, 0);
    const busy = alive.reduce((sum, each) => sum + each.busy, 0);
    const full = (await depths()).flatMap(({ queue, depth }) => {
      const { waits_for } = capacityOf(queue, depth, alive);
      return waits_for === "slot" ? [{ queue, ready: depth.ready }] : [];
    });
    const sandboxes = sandboxesOf(alive);
    const used = [
      `${alive.length} of ${all.length} alive`,
      `${busy} of ${slots} slots busy`,
      ...(sandboxes.length === 0 ? [] : [`sandbox: ${sandboxes.join(", ")}`]),
    ];
    return {
      status: alive.length > 0 && !sandboxes.includes("none") ? "ok" : "degraded",
      detail: [
        used.join(", "),
        ...full.map(({ queue, ready }) => `${queue} is full, ${ready} wait`),
      ].join("; "),
      facts: {
        alive: alive.length,
        known: all.length,
        slots,
        busy,
        full_queues: full.map(({ queue }) => queue),
        sandboxes,
        gdal: enginesOf(alive),
      },
    };
  },

  handlers: async ({ db }) => {
    const rows = await listContracts(db);
    const live = rows.filter(({ offered_by }) => offered_by.length > 0);
    const names = live.map(({ contract }) => contract.name);
    const conflicts = [...new Set(names.filter((name, index) => names.indexOf(name) !== index))];
    const detail = [`${new Set(names).size} offered`];
    if (conflicts.length > 0) {
      detail.push(`workers offer different contracts of ${conflicts.join(", ")}`);
    }
    return {
      status: conflicts.length > 0 ? "degraded" : "ok",
      detail: detail.join("; "),
      facts: { offered: new Set(names).size, conflicts },
    };
  },
};

/** What confines the files of partners on the live workers; "none" is a hole to be closed. */
function sandboxesOf(workers: readonly WorkerRow[]): SandboxKind[] {
  return [...new Set(workers.flatMap(({ gdal }) => gdal?.sandbox ?? []))].toSorted();
}

/** The GDAL versions in use: two during an upgrade, or if a machine lacks the programs. */
function enginesOf(workers: readonly WorkerRow[]): JsonObject[] {
  const found = workers.flatMap(({ gdal }) => {
    if (gdal === null) return [];
    const { engine, version, codecs, sandbox = null, sandbox_reason = null } = gdal;
    return [{ engine, version, codecs: [...codecs], sandbox, sandbox_reason }];
  });
  const known = new Map(
    found.map((each) => [`${each.engine} ${each.version} ${each.sandbox ?? ""}`, each]),
  );
  return [...known.values()];
}
