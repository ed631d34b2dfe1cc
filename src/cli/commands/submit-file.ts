import { setTimeout as pause } from "node:timers/promises";
import { loadWorkflowFiles } from "../../adapters/workflow-files/load-workflow-files.ts";
import { ApiError } from "../../core/api/api-error.ts";
import type { Client } from "../../core/api/client.ts";
import { handlerCatalogue } from "../../core/handlers/index.ts";
import { withSiteDefaults } from "../../core/handlers/site-defaults.ts";
import type { CliConfig } from "../common/config.ts";
import { Failure } from "../common/failure.ts";

/** The orchestrator looks at its folders every five seconds at the latest. */
const longestWaitMs = 8000;
const betweenMs = 250;

/**
 * Answers the id of a workflow that is named by its id or by its file. Of a file the orchestrator must
 * have read exactly this content, or a job would run another version than the one that was named.
 */
export async function workflowOf(
  client: Client,
  config: CliConfig,
  named: string,
): Promise<string> {
  if (!/\.ya?ml$/.test(named)) return named;
  const { workflows, findings } = await loadWorkflowFiles([named], {
    // As the orchestrator compiles it, or their hashes differ.
    handlers: withSiteDefaults(handlerCatalogue, config.siteDefaults),
    queues: config.queues,
    env: config.templateEnv,
  });
  const [workflow] = workflows;
  if (workflow === undefined) {
    const errors = findings.filter(({ severity }) => severity === "error");
    const lines = errors.map(({ file, line, column, code, message }) => {
      return `${file}:${line}:${column} ${code} ${message}`;
    });
    throw new Failure(lines.join("\n"));
  }
  const { workflow_id: id } = workflow.definition;
  for (let waited = 0; ; waited += betweenMs) {
    const hash = await currentHash(client, id);
    if (hash === workflow.hash) return id;
    if (waited < longestWaitMs) await pause(betweenMs);
    else {
      const other = hash === undefined ? "does not know" : "has another version of";
      throw new Failure(
        `The orchestrator ${other} workflow "${id}". It reads the folders that RMHDAG_WORKFLOWS ` +
          "names, and with `rmhdag up` also ./workflows: put the file there. Its log says if a " +
          "file was refused.",
      );
    }
  }
}

async function currentHash(client: Client, id: string): Promise<string | undefined> {
  try {
    const workflow = await client.getWorkflow({ params: { workflow_id: id } });
    return workflow.is_active ? workflow.workflow_hash : undefined;
  } catch (error) {
    if (error instanceof ApiError && error.code === "WORKFLOW_NOT_FOUND") return undefined;
    throw error;
  }
}
