import type { Handlers } from "../../adapters/http/handler.ts";
import type { Contracts } from "../../core/api/index.ts";
import { assetFeatureRoutes } from "./asset-features.ts";
import { assetLayerRoutes } from "./asset-layers.ts";
import { assetRoutes } from "./assets.ts";
import { bootstrapRoutes } from "./bootstrap.ts";
import { checkpointRoutes } from "./checkpoints.ts";
import { commandRoutes } from "./commands.ts";
import { deliveryRoutes } from "./deliveries.ts";
import type { RouteDeps } from "./deps.ts";
import { fleetRoutes } from "./fleet.ts";
import { healthRoutes } from "./health.ts";
import { itemFeatureRoutes } from "./item-features.ts";
import { jobBatchRoutes } from "./job-batch.ts";
import { jobRoutes } from "./jobs.ts";
import { keyRoutes } from "./keys.ts";
import { metadataRoutes } from "./metadata.ts";
import { metricRoutes } from "./metrics.ts";
import { nodeRoutes } from "./nodes.ts";
import { platformRoutes } from "./platforms.ts";
import { queueRoutes } from "./queues.ts";
import { storageRoutes } from "./storage.ts";
import { stacRoutes } from "./stac.ts";
import { uiRoutes } from "./ui.ts";
import { requestRoutes } from "./requests.ts";
import { collectionTileRoutes } from "./collection-tiles.ts";
import { tileRoutes } from "./tiles.ts";
import { workflowRoutes } from "./workflows.ts";

/** A handler for every contract of the orchestrator. */
export function makeRoutes(deps: RouteDeps): Handlers<Contracts> {
  return {
    ...jobRoutes(deps),
    ...jobBatchRoutes(deps),
    ...nodeRoutes(deps),
    ...workflowRoutes(deps),
    ...queueRoutes(deps),
    ...fleetRoutes(deps),
    ...itemFeatureRoutes(deps),
    ...metricRoutes(deps),
    ...deps.callbacks,
    ...checkpointRoutes(deps),
    ...commandRoutes(deps),
    ...stacRoutes(deps),
    ...tileRoutes(deps),
    ...collectionTileRoutes(deps),
    ...bootstrapRoutes(deps),
    ...platformRoutes(deps),
    ...requestRoutes(deps),
    ...assetRoutes(deps),
    ...assetLayerRoutes(deps),
    ...assetFeatureRoutes(deps),
    ...metadataRoutes(deps),
    ...keyRoutes(deps),
    ...deliveryRoutes(deps),
    ...healthRoutes(deps),
    ...storageRoutes(deps),
    ...uiRoutes(deps),
  };
}
