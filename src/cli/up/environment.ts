import { createHash, randomBytes } from "node:crypto";
import { queueFor } from "../../core/queues.ts";
import type { CliConfig } from "../config.ts";
import { workflowFolders } from "../config.ts";

export type WorkerKind = "light" | "heavy" | "general";

/** Both kinds also serve the general queue, so that one of either is enough to run everything else. */
export const workerQueues: Readonly<Record<WorkerKind, readonly string[]>> = {
  light: [queueFor.light, queueFor.general],
  heavy: [queueFor.heavy, queueFor.general],
  general: [queueFor.general],
};

export interface Site {
  /** Of the orchestrator, also after it was started again: its jobs are then still its own. */
  readonly ownerId: string;
  readonly databaseUrl: string;
  readonly dataFolder: string;
  readonly host: string;
  readonly port: number;
  readonly cliToken: string;
  readonly serviceToken: string;
  readonly gatewayToken: string;
  readonly callbackKey: string;
}

export interface GatewayPlace {
  readonly databaseUrl: string;
  readonly orchestratorUrl: string;
  readonly port: number;
}

/** What all programs of one site have in common; a variable that the user set stands. */
function common(config: CliConfig, site: Site): NodeJS.ProcessEnv {
  return {
    LOG_FORMAT: "text",
    ...config.environment,
    DATABASE_URL: site.databaseUrl,
    RMHDAG_DATA_DIR: site.dataFolder,
  };
}

/** On one machine with its own database a lost owner is noticed sooner than across a network. */
const quickTakeOver = {
  HEARTBEAT_INTERVAL_SEC: "5",
  ORPHAN_THRESHOLD_SEC: "15",
  ORPHAN_SCAN_INTERVAL_SEC: "5",
};

/** They hang together, so the user's own count as soon as there is one. */
function takeOver({ environment }: CliConfig): NodeJS.ProcessEnv {
  const isGiven = Object.keys(quickTakeOver).some((name) => (environment[name] ?? "") !== "");
  return isGiven ? {} : quickTakeOver;
}

export function orchestratorEnvironment(config: CliConfig, site: Site): NodeJS.ProcessEnv {
  const given = config.environment["DAG_SERVICE_TOKENS"] ?? "";
  const tokens = [
    ...(given === "" ? [] : [given]),
    `cli:read+operate+curate+service:${sha256(site.cliToken)}`,
    `workers:service:${sha256(site.serviceToken)}`,
    `gateway:read+operate+curate:${sha256(site.gatewayToken)}`,
  ];
  return {
    ORCHESTRATOR_ID: site.ownerId,
    CALLBACK_SIGNING_KEY: site.callbackKey,
    ...common(config, site),
    ...takeOver(config),
    ORCHESTRATOR_HOST: site.host,
    ORCHESTRATOR_PORT: String(site.port),
    RMHDAG_WORKFLOWS: workflowFolders(config),
    // Only hashes: the tokens themselves stay in their files and with those who use them.
    DAG_SERVICE_TOKENS: tokens.join(","),
  };
}

export function workerEnvironment(
  config: CliConfig,
  site: Site,
  worker: { readonly name: string; readonly kind: WorkerKind },
): NodeJS.ProcessEnv {
  return {
    ...common(config, site),
    // A worker that is started again is another worker: its predecessor's leases are not its own.
    WORKER_ID: `${worker.name}-${randomBytes(3).toString("hex")}`,
    WORKER_TYPE: worker.kind,
    WORKER_QUEUE: workerQueues[worker.kind].join(","),
    DAG_SERVICE_TOKEN: site.serviceToken,
  };
}

/** Of the database it is told its own read-only user alone. */
export function gatewayEnvironment(
  config: CliConfig,
  site: Site,
  place: GatewayPlace,
): NodeJS.ProcessEnv {
  const given = config.environment["GATEWAY_OPERATOR_TOKENS"] ?? "";
  // Who looks after the site looks after its gateway too.
  const operators = [...(given === "" ? [] : [given]), `cli:operate:${sha256(site.cliToken)}`];
  return {
    ...common(config, site),
    DATABASE_URL: undefined,
    GATEWAY_DATABASE_URL: place.databaseUrl,
    GATEWAY_HOST: site.host,
    GATEWAY_PORT: String(place.port),
    ORCHESTRATOR_URL: place.orchestratorUrl,
    DAG_SERVICE_TOKEN: site.gatewayToken,
    GATEWAY_OPERATOR_TOKENS: operators.join(","),
  };
}

function sha256(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}
