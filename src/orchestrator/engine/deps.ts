import type { Broker } from "../../adapters/broker/broker.ts";
import type { Database } from "../../adapters/postgres/database.ts";
import type { GraphCache } from "../../adapters/postgres/queries/graph-cache.ts";
import type { Clock } from "../../adapters/runtime/clock.ts";
import type { Graph } from "../../core/dag/compile/graph.ts";
import type { JsonObject } from "../../core/model/json.ts";
import type { JobEnds } from "./job-ends.ts";
import type { StateCache } from "./job-state.ts";
import type { OutputStore } from "./output-store.ts";
import type { SetAside } from "./set-aside.ts";
import type { Links } from "../links/links.ts";
import type { WorkflowRegistry } from "../workflows/registry.ts";

/** What the engine's verbs use. `wiring.ts` makes the real ones, a test its own. */
export interface EngineDeps {
  readonly db: Database;
  readonly broker: Broker;
  readonly clock: Clock;
  readonly ownerId: string;
  /** What new submissions use. */
  readonly workflows: WorkflowRegistry;
  /** What jobs use: the version that each was submitted with. */
  readonly graphs: GraphCache;
  readonly cache: StateCache;
  readonly outputs: OutputStore;
  readonly setAside: SetAside;
  readonly ends: JobEnds;
  readonly links: Links;
  /** The allow-listed environment that templates may read. */
  readonly env: JsonObject;
}

export async function graphOfJob(
  { graphs }: Pick<EngineDeps, "graphs">,
  workflowHash: string,
): Promise<Graph> {
  const graph = await graphs.graphOf(workflowHash);
  if (graph === undefined) throw new Error(`workflow version ${workflowHash} is not stored`);
  return graph;
}
