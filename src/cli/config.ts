import { readFileSync } from "node:fs";
import { z } from "zod";
import { taskQueues } from "../core/queues.ts";

const manifest = z.object({ version: z.string() });

/** Comma-separated, as in `RMHDAG_TASK_QUEUES=functionapp-tasks,gpu-tasks`. */
function list(value: string | undefined): string[] | undefined {
  const names = value?.split(",").map((name) => name.trim());
  return names?.filter((name) => name !== "");
}

export interface CliConfig {
  readonly version: string;
  readonly queues: ReadonlySet<string>;
  /** Environment names that templates may read. */
  readonly templateEnv: ReadonlySet<string>;
}

export function readConfig(env: NodeJS.ProcessEnv = process.env): CliConfig {
  // Two folders up from src/cli as well as from dist/cli.
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return {
    version: manifest.parse(JSON.parse(text)).version,
    queues: new Set(list(env["RMHDAG_TASK_QUEUES"]) ?? taskQueues),
    templateEnv: new Set(list(env["RMHDAG_TEMPLATE_ENV"]) ?? []),
  };
}
