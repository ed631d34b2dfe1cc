import type { Broker } from "../../adapters/broker/broker.ts";
import type { Database } from "../../adapters/postgres/database.ts";
import type { Clock } from "../../adapters/runtime/clock.ts";
import type { JsonObject } from "../../core/model/json.ts";
import type { StateCache } from "./job-state.ts";
import type { OutputStore } from "./output-store.ts";
import type { WorkflowRegistry } from "../workflows/registry.ts";

/** What the engine's verbs use. `wiring.ts` makes the real ones, a test its own. */
export interface EngineDeps {
  readonly db: Database;
  readonly broker: Broker;
  readonly clock: Clock;
  readonly ownerId: string;
  readonly workflows: WorkflowRegistry;
  readonly cache: StateCache;
  readonly outputs: OutputStore;
  /** The allow-listed environment that templates may read. */
  readonly env: JsonObject;
}
