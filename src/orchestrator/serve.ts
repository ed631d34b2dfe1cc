/** Builds the HTTP server of the API, the console, tiles and metrics. */
import { fileURLToPath } from "node:url";
import type { AccessPolicy } from "../adapters/http/access.ts";
import { isLoopback } from "../adapters/http/access.ts";
import type { Metrics } from "../adapters/http/metrics.ts";
import type { HttpServer } from "../adapters/http/server.ts";
import { buildServer } from "../adapters/http/server.ts";
import { openStaticFiles } from "../adapters/http/static-files.ts";
import type { Database } from "../adapters/postgres/database.ts";
import { migrate } from "../adapters/postgres/migrate.ts";
import { rebuildSchema } from "../adapters/postgres/rebuild.ts";
import type { Logger } from "../adapters/runtime/logger.ts";
import { version } from "../adapters/runtime/version.ts";
import type { Tracer } from "../adapters/tracing/tracer.ts";
import type { HttpsRules } from "../adapters/storage/https-source.ts";
import { withReferencedFiles } from "../adapters/storage/referenced-files.ts";
import type { Storage } from "../adapters/storage/storage.ts";
import { createDiskCache } from "../adapters/tiles/disk-cache.ts";
import { createLazyRasterServer } from "../adapters/tiles/raster-server.ts";
import { contracts } from "../core/api/index.ts";
import type { OrchestratorConfig } from "./config.ts";
import type { AssetDeps } from "./assets/deps.ts";
import { registerEngineMetrics } from "./engine/engine-metrics.ts";
import { shareReading } from "./fleet/share-reading.ts";
import type { Engine } from "./engine/start-engine.ts";
import type { FileDeps } from "./files/deps.ts";
import type { JobDeps } from "./jobs/deps.ts";
import { makeVerbs } from "./jobs/make-verbs.ts";
import { createHexagonAnswers } from "./h3/hexagon-answers.ts";
import { createFeatureAnswers } from "./layers/feature-answers.ts";
import { createLayerAnswers } from "./layers/layer-answers.ts";
import type { RetentionDeps } from "./retention/remove-old.ts";
import { makeRoutes } from "./routes.ts";
import type { SignInDeps } from "./sign-in/deps.ts";

/** Beside src/ as beside dist/. */
const uiFolder = fileURLToPath(new URL("../../ui/dist", import.meta.url));

export async function serve(
  deps: JobDeps,
  config: OrchestratorConfig,
  engine: Engine,
  parts: {
    /** For reading: its planner is free to choose. */
    readonly db: Database;
    readonly tileDb: Database;
    readonly domain: AssetDeps;
    readonly serviceChecks: Parameters<typeof makeRoutes>[0]["serviceChecks"];
    readonly retention: RetentionDeps;
    readonly storage: Storage;
    readonly sourceRules: HttpsRules;
    readonly uploads: FileDeps["uploads"];
    readonly access: AccessPolicy;
    readonly signIn: SignInDeps;
    readonly compile: Parameters<typeof makeRoutes>[0]["compile"];
    readonly queues: () => readonly string[];
    readonly streams: Parameters<typeof makeRoutes>[0]["streams"];
    readonly tracer: Tracer | undefined;
    readonly metrics: Metrics;
    readonly pushCounters: { readonly pushed: number; readonly reported: number };
    readonly log: Logger;
  },
): Promise<HttpServer> {
  const { broker, graphs, ownerId, clock } = deps;
  const { db } = parts;
  const startedAt = clock.now().toISOString();
  const { metrics } = parts;
  registerEngineMetrics(metrics, () => ({ ...engine.counters, ...parts.pushCounters }));
  const verbs = makeVerbs(deps, () => {
    engine.wake();
  });
  const features = createFeatureAnswers(db, parts.tileDb);
  const handlers = makeRoutes({
    db,
    assets: parts.domain,
    serviceChecks: parts.serviceChecks,
    retention: parts.retention,
    storage: parts.storage,
    uploads: parts.uploads,
    layers: createLayerAnswers(
      createLazyRasterServer({
        storage: withReferencedFiles(parts.storage, parts.sourceRules),
        disk: createDiskCache(config.tileCache.folder, config.tileCache.mostBytes),
        log: parts.log.child({ part: "tiles" }),
      }),
      features,
      createHexagonAnswers(db, parts.storage),
    ),
    features,
    verbs,
    broker,
    queues: parts.queues,
    graphs,
    streams: parts.streams,
    compile: parts.compile,
    workflows: deps.workflows,
    testEnvironment: config.testEnvironment,
    callbacks: parts.domain.callbacks,
    traceUrlTemplate: config.traceUrlTemplate,
    schema: {
      migrate: () => migrate(config.migrationUrl),
      rebuild: config.allowRebuild ? () => rebuildSchema(config.migrationUrl) : undefined,
    },
    access: parts.access,
    remoteWorkers: {
      mayShadow: config.mayShadowHandlers,
      jobQueue: config.jobQueue,
      leaseSeconds: config.leaseMs / 1000,
    },
    signIn: parts.signIn,
    doctor: {
      db,
      storage: parts.storage,
      signIn: parts.signIn,
      version,
      databaseUrl: config.databaseUrl,
      dataFolder: config.dataFolder,
      limits: config.timeouts,
      settings: {
        isOpenOnLoopback: config.openOnLoopback,
        listensBeyondLoopback: !isLoopback(config.host),
        hasProxy: config.trustedProxy !== undefined,
        hasCallbackKey: config.callbackSigningKey !== undefined,
        mayRebuild: config.allowRebuild,
      },
    },
    version,
    uiFiles: await openStaticFiles(uiFolder),
    status: () => ({ owner_id: ownerId, started_at: startedAt, ...engine.status() }),
    metrics,
    share: shareReading,
  });
  return buildServer({
    contracts,
    handlers,
    access: parts.access,
    log: parts.log,
    timeouts: config.timeouts,
    tracer: parts.tracer,
    onAnswered: (timing) => {
      metrics.observe(timing);
    },
  });
}
