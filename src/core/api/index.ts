import { assetFeatureContracts, assetLayerContracts } from "./asset-layers.ts";
import { assetContracts } from "./assets.ts";
import { callbackAddressContracts } from "./callback-addresses.ts";
import { bootstrapContracts } from "./bootstrap.ts";
import { uploadContracts } from "./uploads.ts";
import { workerReportContracts } from "./worker-reports.ts";
import { commandContracts } from "./commands.ts";
import { deliveryContracts } from "./deliveries.ts";
import { doctorContracts } from "./doctor.ts";
import { itemFeatureContracts } from "./features.ts";
import { fleetContracts } from "./fleet.ts";
import { handlerContracts } from "./handlers.ts";
import { healthContracts } from "./health.ts";
import { jobBatchContracts } from "./job-batch.ts";
import { jobContracts } from "./jobs.ts";
import { keyContracts } from "./keys.ts";
import { h3Contracts } from "./h3.ts";
import { externalServiceContracts } from "./external-services.ts";
import { layerFileContracts } from "./layer-files.ts";
import { lineageContracts } from "./lineage.ts";
import { metadataContracts } from "./metadata.ts";
import { metricContracts } from "./metrics.ts";
import { nodeContracts } from "./nodes.ts";
import { ogcContracts } from "./ogc-layers.ts";
import { platformContracts } from "./platforms.ts";
import { queueContracts } from "./queues.ts";
import { signInContracts } from "./sign-in.ts";
import { fileContracts, storageContracts } from "./storage.ts";
import { stacContracts } from "./stac.ts";
import { stacTransactionContracts } from "./stac-transactions.ts";
import { uiContracts } from "./ui.ts";
import { remoteWorkerContracts } from "./remote-workers.ts";
import { earlierPathContracts } from "./earlier-paths.ts";
import { retentionContracts } from "./retention.ts";
import { stageJobContracts } from "./stage-jobs.ts";
import { requestContracts } from "./requests.ts";
import { collectionLayerContracts, itemLayerContracts, mapContracts } from "./tiles.ts";
import { workflowContracts } from "./workflows.ts";

/** Every route of the orchestrator's API. */
export const contracts = [
  ...jobContracts,
  ...jobBatchContracts,
  ...stageJobContracts,
  ...nodeContracts,
  ...workflowContracts,
  ...queueContracts,
  ...fleetContracts,
  ...handlerContracts,
  ...itemFeatureContracts,
  ...metricContracts,
  ...workerReportContracts,
  ...remoteWorkerContracts,
  ...commandContracts,
  ...stacContracts,
  ...stacTransactionContracts,
  ...ogcContracts,
  ...itemLayerContracts,
  ...collectionLayerContracts,
  ...mapContracts,
  ...bootstrapContracts,
  ...platformContracts,
  ...callbackAddressContracts,
  ...requestContracts,
  ...assetContracts,
  ...assetLayerContracts,
  ...assetFeatureContracts,
  ...metadataContracts,
  ...h3Contracts,
  ...externalServiceContracts,
  ...layerFileContracts,
  ...lineageContracts,
  ...keyContracts,
  ...signInContracts,
  ...deliveryContracts,
  ...healthContracts,
  ...earlierPathContracts,
  ...doctorContracts,
  ...retentionContracts,
  ...storageContracts,
  ...fileContracts,
  ...uploadContracts,
  ...uiContracts,
] as const;
export type Contracts = typeof contracts;
