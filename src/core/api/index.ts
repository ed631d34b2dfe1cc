import { assetFeatureContracts, assetLayerContracts } from "./asset-layers.ts";
import { assetContracts } from "./assets.ts";
import { bootstrapContracts } from "./bootstrap.ts";
import { workerReportContracts } from "./worker-reports.ts";
import { commandContracts } from "./commands.ts";
import { deliveryContracts } from "./deliveries.ts";
import { itemFeatureContracts } from "./features.ts";
import { fleetContracts } from "./fleet.ts";
import { healthContracts } from "./health.ts";
import { jobBatchContracts } from "./job-batch.ts";
import { jobContracts } from "./jobs.ts";
import { keyContracts } from "./keys.ts";
import { metadataContracts } from "./metadata.ts";
import { metricContracts } from "./metrics.ts";
import { nodeContracts } from "./nodes.ts";
import { platformContracts } from "./platforms.ts";
import { queueContracts } from "./queues.ts";
import { storageContracts } from "./storage.ts";
import { stacContracts } from "./stac.ts";
import { uiContracts } from "./ui.ts";
import { requestContracts } from "./requests.ts";
import { collectionLayerContracts, itemLayerContracts, mapContracts } from "./tiles.ts";
import { workflowContracts } from "./workflows.ts";

/** Every route of the orchestrator's API. */
export const contracts = [
  ...jobContracts,
  ...jobBatchContracts,
  ...nodeContracts,
  ...workflowContracts,
  ...queueContracts,
  ...fleetContracts,
  ...itemFeatureContracts,
  ...metricContracts,
  ...workerReportContracts,
  ...commandContracts,
  ...stacContracts,
  ...itemLayerContracts,
  ...collectionLayerContracts,
  ...mapContracts,
  ...bootstrapContracts,
  ...platformContracts,
  ...requestContracts,
  ...assetContracts,
  ...assetLayerContracts,
  ...assetFeatureContracts,
  ...metadataContracts,
  ...keyContracts,
  ...deliveryContracts,
  ...healthContracts,
  ...storageContracts,
  ...uiContracts,
] as const;
export type Contracts = typeof contracts;
