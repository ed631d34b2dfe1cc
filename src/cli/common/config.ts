import { addressOfParts, completeAddress } from "../../adapters/runtime/database-address.ts";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { version } from "../../adapters/runtime/version.ts";
import { z } from "zod";
import type { SiteDefaults } from "../../core/handlers/site-defaults.ts";
import { siteDefaultsEnvironment } from "../../core/handlers/site-defaults.ts";
import { taskQueues } from "../../core/queues.ts";

/** Three folders up from src/cli/common and from dist/cli/common. */
const packageFolder = new URL("../../../", import.meta.url);

/** Comma-separated, as in `RMHDAG_TASK_QUEUES=functionapp-tasks,gpu-tasks`. */
function list(value: string | undefined): string[] | undefined {
  const names = value?.split(",").map((name) => name.trim());
  return names?.filter((name) => name !== "");
}

/** An empty variable counts as unset. */
function text(value: string | undefined): string | undefined {
  return value === "" ? undefined : value;
}

/** A setting that the orchestrator refuses is ignored here. */
function readSiteDefaults(env: NodeJS.ProcessEnv): SiteDefaults {
  const read = z.object(siteDefaultsEnvironment).safeParse(env);
  return {
    routing: read.data?.TASK_ROUTING ?? new Map(),
    timeouts: read.data?.TASK_TIMEOUTS ?? new Map(),
  };
}

export interface CliConfig {
  readonly version: string;
  /** Queues and timeouts of handlers, as the orchestrator of this environment has them. */
  readonly siteDefaults: SiteDefaults;
  readonly queues: ReadonlySet<string>;
  /** Environment names that templates may read. */
  readonly templateEnv: ReadonlySet<string>;
  readonly url: string | undefined;
  readonly token: string | undefined;
  readonly dataFolder: string;
  readonly databaseUrl: string | undefined;
  /** Which PostgreSQL `up` runs without DATABASE_URL: auto, npm or system. */
  readonly postgres: string;
  /** Address and port of the orchestrator that `up` starts, unless an option says otherwise. */
  readonly host: string;
  readonly port: string;
  /** Port of the gateway that `up` starts. */
  readonly gatewayPort: string | undefined;
  /** True: output has no colours, because NO_COLOR is set or the terminal has none. */
  readonly isPlain: boolean;
  /** The environment that started programs inherit. */
  readonly environment: Readonly<NodeJS.ProcessEnv>;
}

function databaseUrl(env: NodeJS.ProcessEnv): string | undefined {
  const address = text(env["DATABASE_URL"]) ?? addressOfParts(env);
  return address === undefined ? undefined : completeAddress(address, env);
}

export function readConfig(env: NodeJS.ProcessEnv = process.env): CliConfig {
  return {
    version,
    queues: new Set(list(env["RMHDAG_TASK_QUEUES"]) ?? taskQueues),
    siteDefaults: readSiteDefaults(env),
    templateEnv: new Set(list(env["RMHDAG_TEMPLATE_ENV"]) ?? []),
    url: text(env["ORCHESTRATOR_URL"]),
    token: text(env["RMHDAG_TOKEN"]),
    dataFolder: text(env["RMHDAG_DATA_DIR"]) ?? ".rmhdag",
    databaseUrl: databaseUrl(env),
    postgres: text(env["RMHDAG_POSTGRES"]) ?? "auto",
    host: text(env["ORCHESTRATOR_HOST"]) ?? "127.0.0.1",
    port: text(env["ORCHESTRATOR_PORT"]) ?? "8000",
    gatewayPort: text(env["GATEWAY_PORT"]),
    isPlain: text(env["NO_COLOR"]) !== undefined || env["TERM"] === "dumb",
    environment: env,
  };
}

/** RMHDAG_WORKFLOWS, or the workflows that ship with rmhdag and those in ./workflows, once it is there. */
export function workflowFolders(config: CliConfig): string {
  const given = text(config.environment["RMHDAG_WORKFLOWS"]);
  if (given !== undefined) return given;
  const shipped = fileURLToPath(new URL("workflows", packageFolder));
  const own = path.resolve("workflows");
  return own === shipped ? shipped : `${shipped},${own}?`;
}
