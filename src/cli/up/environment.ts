import { createHash, randomBytes } from "node:crypto";
import { queueFor } from "../../core/queues.ts";
import type { CliConfig } from "../common/config.ts";
import { workflowFolders } from "../common/config.ts";

export type WorkerKind = "light" | "heavy" | "general";

/** Light and heavy workers also serve the general queue, so that it needs no worker of its own. */
export const workerQueues: Readonly<Record<WorkerKind, readonly string[]>> = {
  light: [queueFor.light, queueFor.general],
  heavy: [queueFor.heavy, queueFor.general],
  general: [queueFor.general],
};

export interface Site {
  /** The orchestrator's id; a restarted orchestrator keeps it, and so keeps its jobs. */
  readonly ownerId: string;
  /** The address of the database for each program, with a user of its own. */
  readonly databaseUrls: { readonly orchestrator: string; readonly worker: string };
  /** The address with the user who owns the schema: only for an orchestrator that may rebuild it. */
  readonly ownerUrl: string;
  readonly dataFolder: string;
  readonly host: string;
  readonly port: number;
  readonly cliToken: string;
  readonly serviceToken: string;
  readonly gatewayToken: string;
  readonly callbackKey: string;
}

export interface GatewaySite {
  readonly databaseUrl: string;
  readonly orchestratorUrl: string;
  readonly port: number;
}

/**
 * The variables that all programs of a site share; those that the user has set are passed on. A user's
 * DATABASE_URL is not: it may be a superuser's.
 */
function common(config: CliConfig, site: Site, databaseUrl: string | undefined): NodeJS.ProcessEnv {
  return {
    LOG_FORMAT: "text",
    ...config.environment,
    DATABASE_URL: databaseUrl,
    MIGRATION_DATABASE_URL: undefined,
    RMHDAG_DATA_DIR: site.dataFolder,
  };
}

/** Shorter than the defaults: on one machine, a silent orchestrator is a dead one. */
const quickTakeOver = {
  HEARTBEAT_INTERVAL_SEC: "5",
  ORPHAN_THRESHOLD_SEC: "15",
  ORPHAN_SCAN_INTERVAL_SEC: "5",
};

/** The three depend on each other: if the user has set one of them, none is set here. */
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
    ...common(config, site, site.databaseUrls.orchestrator),
    ...(config.environment["RMHDAG_ALLOW_REBUILD"] === "true"
      ? { MIGRATION_DATABASE_URL: site.ownerUrl }
      : {}),
    ...takeOver(config),
    ORCHESTRATOR_HOST: site.host,
    ORCHESTRATOR_PORT: String(site.port),
    RMHDAG_WORKFLOWS: workflowFolders(config),
    // The orchestrator gets only hashes of the tokens.
    DAG_SERVICE_TOKENS: tokens.join(","),
  };
}

/** A restarted worker gets a new id: it must not renew the leases of the dead one. */
export function makeWorkerId(name: string): string {
  return `${name}-${randomBytes(3).toString("hex")}`;
}

export function workerEnvironment(
  config: CliConfig,
  site: Site,
  worker: {
    readonly id: string;
    readonly kind: WorkerKind;
    readonly replaces?: string | undefined;
  },
): NodeJS.ProcessEnv {
  return {
    ...common(config, site, site.databaseUrls.worker),
    WORKER_ID: worker.id,
    WORKER_REPLACES: worker.replaces,
    WORKER_TYPE: worker.kind,
    WORKER_QUEUE: workerQueues[worker.kind].join(","),
    DAG_SERVICE_TOKEN: site.serviceToken,
  };
}

/** The gateway gets the address of the database with its own read-only user, and no other. */
export function gatewayEnvironment(
  config: CliConfig,
  site: Site,
  gateway: GatewaySite,
): NodeJS.ProcessEnv {
  const given = config.environment["GATEWAY_OPERATOR_TOKENS"] ?? "";
  // The token of the command line also operates the gateway.
  const operators = [...(given === "" ? [] : [given]), `cli:operate:${sha256(site.cliToken)}`];
  return {
    ...common(config, site, undefined),
    GATEWAY_DATABASE_URL: gateway.databaseUrl,
    GATEWAY_HOST: site.host,
    GATEWAY_PORT: String(gateway.port),
    ORCHESTRATOR_URL: gateway.orchestratorUrl,
    DAG_SERVICE_TOKEN: site.gatewayToken,
    GATEWAY_OPERATOR_TOKENS: operators.join(","),
  };
}

function sha256(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}
