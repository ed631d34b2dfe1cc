import type { Handlers } from "../adapters/http/handler.ts";
import type { Contracts } from "../core/api/index.ts";
import type { AssetRouteDeps } from "./assets/routes.ts";
import { assetRoutes } from "./assets/routes.ts";
import type { CatalogueRouteDeps } from "./catalogue/routes.ts";
import { catalogueRoutes } from "./catalogue/routes.ts";
import type { ConsoleRouteDeps } from "./console/routes.ts";
import { consoleRoutes } from "./console/routes.ts";
import type { FleetRouteDeps } from "./fleet/routes.ts";
import { fleetRoutes } from "./fleet/routes.ts";
import type { JobRouteDeps } from "./jobs/routes.ts";
import { jobRoutes } from "./jobs/routes.ts";
import type { LayerRouteDeps } from "./layers/routes.ts";
import { layerRoutes } from "./layers/routes.ts";
import type { PartnerCallbackRouteDeps } from "./partner-callbacks/routes.ts";
import { partnerCallbackRoutes } from "./partner-callbacks/routes.ts";
import type { PlatformRouteDeps } from "./platforms/routes.ts";
import { platformRoutes } from "./platforms/routes.ts";
import type { WorkerReportRouteDeps } from "./worker-reports/routes.ts";
import { workerReportRoutes } from "./worker-reports/routes.ts";
import type { WorkflowRouteDeps } from "./workflows/routes.ts";
import { workflowRoutes } from "./workflows/routes.ts";

export type RouteDeps = AssetRouteDeps &
  CatalogueRouteDeps &
  ConsoleRouteDeps &
  FleetRouteDeps &
  JobRouteDeps &
  LayerRouteDeps &
  PartnerCallbackRouteDeps &
  PlatformRouteDeps &
  WorkerReportRouteDeps &
  WorkflowRouteDeps;

/** A handler for every contract of the orchestrator: a missing one does not compile. */
export function makeRoutes(deps: RouteDeps): Handlers<Contracts> {
  return {
    ...assetRoutes(deps),
    ...catalogueRoutes(deps),
    ...consoleRoutes(deps),
    ...fleetRoutes(deps),
    ...jobRoutes(deps),
    ...layerRoutes(deps),
    ...partnerCallbackRoutes(deps),
    ...platformRoutes(deps),
    ...workerReportRoutes(deps),
    ...workflowRoutes(deps),
  };
}
