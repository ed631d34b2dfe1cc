import type { Broker } from "../../adapters/broker/broker.ts";
import type { Database } from "../../adapters/postgres/database.ts";
import type { WorkerRow } from "../../adapters/postgres/queries/fleet.ts";
import { listOrchestrators, listWorkers } from "../../adapters/postgres/queries/fleet.ts";
import { readSchemaStatus } from "../../adapters/postgres/queries/schema.ts";
import type { JsonObject } from "../../core/model/json.ts";

export type State = "ok" | "degraded" | "down";

export interface Part {
  readonly status: State;
  readonly detail: string;
  readonly facts: JsonObject;
}

export interface HealthDeps {
  readonly db: Database;
  readonly broker: Pick<Broker, "capabilities" | "depth">;
  readonly queues: readonly string[];
}

/** Checks every part of the platform; a check that fails marks its part as down and stops no other. */
export async function checkHealth(
  deps: HealthDeps,
): Promise<{ status: State; parts: Record<string, Part> }> {
  const entries = await Promise.all(
    Object.entries(checks).map(async ([name, check]): Promise<[string, Part]> => {
      const part = await check(deps).catch((): Part => ({
        status: "down",
        detail: "does not answer",
        facts: {},
      }));
      return [name, part];
    }),
  );
  const states = entries.map(([, { status }]) => status);
  const status = states.includes("down") ? "down" : states.includes("degraded") ? "degraded" : "ok";
  return { status, parts: Object.fromEntries(entries) };
}

const checks: Record<string, (deps: HealthDeps) => Promise<Part>> = {
  database: async ({ db }) => {
    const { database, server_version } = await readSchemaStatus(db);
    return {
      status: "ok",
      detail: `PostgreSQL ${server_version}`,
      facts: { database, server_version },
    };
  },

  schema: async ({ db }) => {
    const { version, needed, current } = await readSchemaStatus(db);
    const detail = current ? `version ${version}` : `version ${version}, needs ${needed}: migrate`;
    return { status: current ? "ok" : "down", detail, facts: { version, needed } };
  },

  broker: async ({ broker, queues }) => {
    const depths = await Promise.all(queues.map((queue) => broker.depth(queue)));
    const dead = depths.reduce((sum, depth) => sum + depth.dead, 0);
    const { name } = broker.capabilities;
    const detail = dead > 0 ? `${name}, ${dead} dead letters` : name;
    return {
      status: dead > 0 ? "degraded" : "ok",
      detail,
      facts: { name, dead, queues: [...queues] },
    };
  },

  orchestrators: async ({ db }) => {
    const all = await listOrchestrators(db);
    const alive = all.filter((each) => each.alive).length;
    const detail = `${alive} of ${all.length} alive`;
    return { status: alive > 0 ? "ok" : "down", detail, facts: { alive, known: all.length } };
  },

  workers: async ({ db }) => {
    const all = await listWorkers(db);
    const alive = all.filter((each) => each.alive);
    const slots = alive.reduce((sum, each) => sum + each.slots, 0);
    const busy = alive.reduce((sum, each) => sum + each.busy, 0);
    return {
      status: alive.length > 0 ? "ok" : "degraded",
      detail: `${alive.length} of ${all.length} alive, ${busy} of ${slots} slots busy`,
      facts: { alive: alive.length, known: all.length, slots, busy, gdal: enginesOf(alive) },
    };
  },
};

/** The GDAL versions in use: two during an upgrade, or if a machine lacks the programs. */
function enginesOf(workers: readonly WorkerRow[]): { engine: string; version: string }[] {
  const found = workers.flatMap(({ gdal }) =>
    gdal === null ? [] : [{ ...gdal, codecs: [...gdal.codecs] }],
  );
  const known = new Map(found.map((each) => [`${each.engine} ${each.version}`, each]));
  return [...known.values()];
}
