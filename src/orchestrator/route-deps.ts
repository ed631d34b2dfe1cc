import type { AccessPolicy } from "../adapters/http/access.ts";
import type { Metrics } from "../adapters/http/metrics.ts";
import type { StaticFiles } from "../adapters/http/static-files.ts";
import type { Broker } from "../adapters/broker/broker.ts";
import type { Database } from "../adapters/postgres/database.ts";
import type { MigrateResult } from "../adapters/postgres/migrate.ts";
import type { GraphCache } from "../adapters/postgres/queries/graph-cache.ts";
import type { Storage } from "../adapters/storage/storage.ts";
import type { Handlers } from "../adapters/http/handler.ts";
import type { callbackContracts } from "../core/api/callbacks.ts";
import type { CompileOptions } from "../core/dag/compile/compile.ts";
import type { DomainDeps } from "./assets/deps.ts";
import type { Verbs } from "./jobs/verbs.ts";
import type { Command } from "./fleet/command-registry.ts";
import type { FeatureAnswers } from "./layers/feature-answers.ts";
import type { JobStreams } from "./jobs/job-streams.ts";
import type { LayerAnswers } from "./layers/layer-answers.ts";

/** Everything that the routes use; each group takes the part it needs. */
export interface RouteDeps {
  readonly db: Database;
  readonly storage: Storage;
  /** What the addresses of a layer answer. */
  readonly layers: LayerAnswers;
  readonly features: FeatureAnswers;
  readonly verbs: Verbs;
  readonly domain: DomainDeps;
  readonly broker: Pick<Broker, "capabilities" | "depth" | "deadLetters" | "requeue">;
  /** Every queue, the job queue among them. */
  readonly queues: readonly string[];
  readonly graphs: GraphCache;
  readonly streams: JobStreams;
  /** What workflows are checked against. */
  readonly compile: Omit<CompileOptions, "workflowId">;
  readonly callbacks: Handlers<typeof callbackContracts>;
  readonly commands: ReadonlyMap<string, Command>;
  readonly schema: SchemaVerbs;
  readonly access: AccessPolicy;
  readonly version: string;
  /** The built user interface. */
  readonly uiFiles: StaticFiles;
  readonly status: () => EngineStatus;
  readonly metrics: Metrics;
}

export interface SchemaVerbs {
  migrate(): Promise<MigrateResult>;
  /** Absent: switched off in the configuration. */
  readonly rebuild?: (() => Promise<MigrateResult>) | undefined;
}

/** What the engine says of itself. */
export interface EngineStatus {
  readonly owner_id: string;
  readonly started_at: string;
  readonly ticks: number;
  readonly last_tick_at: string | null;
  readonly last_error: string | null;
}
