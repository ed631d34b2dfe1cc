import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { taskQueues } from "../core/queues.ts";

const manifest = z.object({ version: z.string() });

/** Two folders up from src/cli as well as from dist/cli. */
const packageFolder = new URL("../../", import.meta.url);

/** Comma-separated, as in `RMHDAG_TASK_QUEUES=functionapp-tasks,gpu-tasks`. */
function list(value: string | undefined): string[] | undefined {
  const names = value?.split(",").map((name) => name.trim());
  return names?.filter((name) => name !== "");
}

/** A variable that is set to nothing is not set. */
function text(value: string | undefined): string | undefined {
  return value === "" ? undefined : value;
}

export interface CliConfig {
  readonly version: string;
  readonly queues: ReadonlySet<string>;
  /** Environment names that templates may read. */
  readonly templateEnv: ReadonlySet<string>;
  readonly url: string | undefined;
  readonly token: string | undefined;
  readonly dataFolder: string;
  readonly databaseUrl: string | undefined;
  /** Which PostgreSQL is run where DATABASE_URL names none. */
  readonly postgres: string;
  /** Where `up` lets the orchestrator listen, unless an option says otherwise. */
  readonly host: string;
  readonly port: string;
  /** Where it lets the gateway listen. */
  readonly gatewayPort: string | undefined;
  /** NO_COLOR is set, or the terminal cannot. */
  readonly isPlain: boolean;
  /** What programs that are started here inherit. */
  readonly environment: Readonly<NodeJS.ProcessEnv>;
}

export function readConfig(env: NodeJS.ProcessEnv = process.env): CliConfig {
  const packageJson = readFileSync(new URL("package.json", packageFolder), "utf8");
  return {
    version: manifest.parse(JSON.parse(packageJson)).version,
    queues: new Set(list(env["RMHDAG_TASK_QUEUES"]) ?? taskQueues),
    templateEnv: new Set(list(env["RMHDAG_TEMPLATE_ENV"]) ?? []),
    url: text(env["ORCHESTRATOR_URL"]),
    token: text(env["RMHDAG_TOKEN"]),
    dataFolder: text(env["RMHDAG_DATA_DIR"]) ?? ".rmhdag",
    databaseUrl: text(env["DATABASE_URL"]),
    postgres: text(env["RMHDAG_POSTGRES"]) ?? "auto",
    host: text(env["ORCHESTRATOR_HOST"]) ?? "127.0.0.1",
    port: text(env["ORCHESTRATOR_PORT"]) ?? "8000",
    gatewayPort: text(env["GATEWAY_PORT"]),
    isPlain: text(env["NO_COLOR"]) !== undefined || env["TERM"] === "dumb",
    environment: env,
  };
}

/** The user's own workflows, or those that ship when there are none in this folder. */
export function workflowFolders(config: CliConfig): string {
  const given = text(config.environment["RMHDAG_WORKFLOWS"]);
  if (given !== undefined) return given;
  const own = path.resolve("workflows");
  return existsSync(own) ? own : fileURLToPath(new URL("workflows", packageFolder));
}
