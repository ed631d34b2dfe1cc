import { bootstrapContracts } from "./bootstrap.ts";
import { callbackContracts, checkpointContracts } from "./callbacks.ts";
import { commandContracts } from "./commands.ts";
import { fleetContracts } from "./fleet.ts";
import { healthContracts } from "./health.ts";
import { jobContracts } from "./jobs.ts";
import { metricContracts } from "./metrics.ts";
import { nodeContracts } from "./nodes.ts";
import { queueContracts } from "./queues.ts";
import { storageContracts } from "./storage.ts";
import { stacContracts } from "./stac.ts";
import { uiContracts } from "./ui.ts";
import { workflowContracts } from "./workflows.ts";

/** The orchestrator's API, whole. */
export const contracts = [
  ...jobContracts,
  ...nodeContracts,
  ...workflowContracts,
  ...queueContracts,
  ...fleetContracts,
  ...metricContracts,
  ...callbackContracts,
  ...checkpointContracts,
  ...commandContracts,
  ...stacContracts,
  ...bootstrapContracts,
  ...healthContracts,
  ...storageContracts,
  ...uiContracts,
] as const;
export type Contracts = typeof contracts;
