import {
  findH3CombinedSource,
  findServedH3Run,
  isH3Redefined,
} from "../../adapters/postgres/queries/h3.ts";
import type { H3RunRow } from "../../adapters/postgres/queries/h3.ts";
import { findGeoTable } from "../../adapters/postgres/queries/geo-tables.ts";
import type { Queryable } from "../../adapters/postgres/queryable.ts";
import type { Storage } from "../../adapters/storage/storage.ts";
import { combinationTag, datasetsOf } from "../../core/h3/combination.ts";

type State = "current" | "stale" | "unknown";
type Computed = Pick<H3RunRow, "kind" | "run_id" | "raster" | "origin" | "source_tag">;

/**
 * Compares the sources of computations with their state when these were computed. A data set whose source or
 * configuration was changed since is stale, whatever its source. A combination is stale once a data set of it
 * was computed anew, and as soon as one of them is stale itself. The function is for one request: a data set
 * that several combinations use is compared once.
 */
export function createDatasetStates(
  db: Queryable,
  storage: Storage,
): (run: Computed) => Promise<State> {
  const known = new Map<string, Promise<State>>();

  function stateOf(run: Computed): Promise<State> {
    const state = known.get(run.run_id) ?? compare(run);
    known.set(run.run_id, state);
    return state;
  }

  async function compare({ run_id, kind, raster, origin, source_tag }: Computed): Promise<State> {
    if (await isH3Redefined(db, run_id)) return "stale";
    if (kind === "combined") return compareInputs(raster, source_tag);
    const table = /^table:(\w+)$/.exec(origin)?.[1];
    if (table !== undefined) {
      const found = await findGeoTable(db, table);
      if (found === undefined) return "unknown";
      return `${origin} ${found.load_id}` === source_tag ? "current" : "stale";
    }
    if (!/^[a-z]+\//.test(origin)) return "unknown";
    const head = await storage.head(origin).catch(() => undefined);
    if (head === undefined) return "unknown";
    return `${origin} ${head.bytes} ${head.etag}` === source_tag ? "current" : "stale";
  }

  /**
   * Ends although a combination may name itself: inputs are followed only if they are the runs that this run
   * was computed of, and the id of a run is a hash over the ids of its inputs.
   */
  async function compareInputs(combination: string, sourceTag: string): Promise<State> {
    const asked = await findH3CombinedSource(db, combination);
    if (asked === undefined) return "unknown";
    const inputs = [];
    for (const { alias, dataset, period } of datasetsOf(asked.source)) {
      const run = await findServedH3Run(db, dataset, period);
      if (run === undefined) return "unknown";
      inputs.push({ ...run, alias });
    }
    if (combinationTag(inputs) !== sourceTag) return "stale";
    const states = new Set<State>();
    for (const input of inputs) states.add(await stateOf(input));
    if (states.has("stale")) return "stale";
    return states.has("unknown") ? "unknown" : "current";
  }

  return stateOf;
}
