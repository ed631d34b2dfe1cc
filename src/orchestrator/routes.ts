import type { Handlers } from "../adapters/http/handler.ts";
import type { Contracts } from "../core/api/index.ts";
import { assetFeatureRoutes } from "./layers/asset-feature-routes.ts";
import { assetLayerRoutes } from "./layers/routes.ts";
import { assetRoutes } from "./assets/routes.ts";
import { bootstrapRoutes } from "./fleet/schema-routes.ts";
import { checkpointRoutes } from "./worker-reports/checkpoint-routes.ts";
import { commandRoutes } from "./fleet/command-routes.ts";
import { deliveryRoutes } from "./partner-callbacks/routes.ts";
import type { RouteDeps } from "./route-deps.ts";
import { fleetRoutes } from "./fleet/routes.ts";
import { healthRoutes } from "./fleet/health-routes.ts";
import { itemFeatureRoutes } from "./layers/item-feature-routes.ts";
import { jobBatchRoutes } from "./jobs/batch-routes.ts";
import { jobRoutes } from "./jobs/routes.ts";
import { keyRoutes } from "./platforms/key-routes.ts";
import { metadataRoutes } from "./layers/metadata-routes.ts";
import { metricRoutes } from "./fleet/metrics-routes.ts";
import { nodeRoutes } from "./jobs/node-routes.ts";
import { platformRoutes } from "./platforms/routes.ts";
import { queueRoutes } from "./fleet/queue-routes.ts";
import { storageRoutes } from "./catalogue/stored-file-routes.ts";
import { stacRoutes } from "./catalogue/routes.ts";
import { uiRoutes } from "./console/routes.ts";
import { requestRoutes } from "./assets/request-routes.ts";
import { collectionTileRoutes } from "./layers/collection-tile-routes.ts";
import { tileRoutes } from "./layers/item-tile-routes.ts";
import { workflowRoutes } from "./workflows/routes.ts";

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
