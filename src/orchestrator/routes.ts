import type { Handlers } from "../adapters/http/handler.ts";
import type { Contracts } from "../core/api/index.ts";
import type { AssetRouteDeps } from "./assets/routes.ts";
import type { ExternalServiceRouteDeps } from "./external-services/routes.ts";
import { externalServiceRoutes } from "./external-services/routes.ts";
import type { LayerFileRouteDeps } from "./assets/layer-files-routes.ts";
import { layerFileRoutes } from "./assets/layer-files-routes.ts";
import { assetRoutes } from "./assets/routes.ts";
import type { CatalogueRouteDeps } from "./catalogue/routes.ts";
import { catalogueRoutes } from "./catalogue/routes.ts";
import { transactionRoutes } from "./catalogue/transaction-routes.ts";
import type { ConsoleRouteDeps } from "./console/routes.ts";
import { consoleRoutes } from "./console/routes.ts";
import type { DoctorRouteDeps } from "./doctor/routes.ts";
import { doctorRoutes } from "./doctor/routes.ts";
import type { FileRouteDeps } from "./files/routes.ts";
import { fileRoutes } from "./files/routes.ts";
import type { FleetRouteDeps } from "./fleet/routes.ts";
import { fleetRoutes } from "./fleet/routes.ts";
import type { HandlerRouteDeps } from "./handlers/routes.ts";
import { handlerRoutes } from "./handlers/routes.ts";
import type { StageRouteDeps } from "./jobs/stage-routes.ts";
import { stageRoutes } from "./jobs/stage-routes.ts";
import type { JobRouteDeps } from "./jobs/routes.ts";
import { jobRoutes } from "./jobs/routes.ts";
import type { LayerRouteDeps } from "./layers/routes.ts";
import { layerRoutes } from "./layers/routes.ts";
import type { H3RouteDeps } from "./h3/routes.ts";
import { h3Routes } from "./h3/routes.ts";
import type { LineageRouteDeps } from "./lineage/routes.ts";
import { lineageRoutes } from "./lineage/routes.ts";
import type { PartnerCallbackRouteDeps } from "./partner-callbacks/routes.ts";
import { partnerCallbackRoutes } from "./partner-callbacks/routes.ts";
import type { PlatformRouteDeps } from "./platforms/routes.ts";
import { callbackAddressRoutes } from "./platforms/callback-address-routes.ts";
import { platformRoutes } from "./platforms/routes.ts";
import type { RetentionRouteDeps } from "./retention/routes.ts";
import { retentionRoutes } from "./retention/routes.ts";
import type { RemoteWorkerRouteDeps } from "./remote-workers/routes.ts";
import { remoteWorkerRoutes } from "./remote-workers/routes.ts";
import type { SignInRouteDeps } from "./sign-in/routes.ts";
import { signInRoutes } from "./sign-in/routes.ts";
import type { WorkerReportRouteDeps } from "./worker-reports/routes.ts";
import { workerReportRoutes } from "./worker-reports/routes.ts";
import type { WorkflowRouteDeps } from "./workflows/routes.ts";
import { workflowRoutes } from "./workflows/routes.ts";

export type RouteDeps = AssetRouteDeps &
  CatalogueRouteDeps &
  ConsoleRouteDeps &
  DoctorRouteDeps &
  FileRouteDeps &
  FleetRouteDeps &
  HandlerRouteDeps &
  JobRouteDeps &
  ExternalServiceRouteDeps &
  LayerFileRouteDeps &
  LayerRouteDeps &
  H3RouteDeps &
  LineageRouteDeps &
  StageRouteDeps &
  PartnerCallbackRouteDeps &
  PlatformRouteDeps &
  RemoteWorkerRouteDeps &
  RetentionRouteDeps &
  SignInRouteDeps &
  WorkerReportRouteDeps &
  WorkflowRouteDeps;

/** A handler for every contract of the orchestrator: a missing one does not compile. */
export function makeRoutes(deps: RouteDeps): Handlers<Contracts> {
  const jobs = jobRoutes(deps);
  const fleet = fleetRoutes(deps);
  return {
    dagSubmit: sameRoute(jobs.submitJob),
    dagJob: sameRoute(jobs.getJob),
    dagJobNodes: sameRoute(jobs.listJobNodes),
    dagCancel: sameRoute(jobs.cancelJob),
    apiHealth: sameRoute(fleet.health),
    ...assetRoutes(deps),
    ...catalogueRoutes(deps),
    ...transactionRoutes(deps),
    ...consoleRoutes(deps),
    ...doctorRoutes(deps),
    ...fileRoutes(deps),
    ...fleet,
    ...handlerRoutes(deps),
    ...jobs,
    ...stageRoutes(deps),
    ...layerRoutes(deps),
    ...h3Routes(deps),
    ...externalServiceRoutes(deps),
    ...layerFileRoutes(deps),
    ...lineageRoutes(deps),
    ...partnerCallbackRoutes(deps),
    ...platformRoutes(deps),
    ...callbackAddressRoutes(deps),
    ...remoteWorkerRoutes(deps),
    ...retentionRoutes(deps),
    ...signInRoutes(deps),
    ...workerReportRoutes(deps),
    ...workflowRoutes(deps),
  };
}

/**
 * Types the handler of a route for the contract at its earlier path, which has the same schemas and
 * differs in name and path only.
 */
function sameRoute(handler: (request: never) => unknown): never {
  return handler as never;
}
