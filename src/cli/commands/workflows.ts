import type { Command } from "commander";
import type { ResponseOf } from "../../core/api/contract.ts";
import type { workflowContracts } from "../../core/api/workflows.ts";
import type { CliConfig } from "../common/config.ts";
import { connect } from "./connect.ts";
import { print, printJson } from "../common/output.ts";
import { ago, stripControlCharacters } from "../common/format.ts";
import { arrangeNodes } from "../watch/arrange-nodes.ts";
import { jsonOption, listCommand } from "./define-command.ts";

type Workflow = ResponseOf<Extract<(typeof workflowContracts)[number], { id: "getWorkflow" }>>;

export function addWorkflows(program: Command, config: CliConfig): void {
  const workflows = program
    .command("workflows")
    .description("list and show the workflows that can be submitted")
    .addHelpText(
      "after",
      "\nExamples:\n  rmhdag workflows list\n  rmhdag workflows show echo_test\n",
    );
  const list = workflows
    .command("list")
    .description("list the workflows, by name")
    .addHelpText("after", "\nExamples:\n  rmhdag workflows list --json\n");
  listCommand(list, config, {
    read: async (client) => (await client.listWorkflows()).items,
    none: "No workflow is loaded. RMHDAG_WORKFLOWS names the folders that are read.",
    columns: {
      WORKFLOW: (workflow) => workflow.workflow_id,
      NAME: (workflow) => workflow.name,
      VERSION: (workflow) => workflow.version,
      HASH: (workflow) => workflow.workflow_hash.slice(0, 12),
      NODES: (workflow) => workflow.node_count,
      INPUTS: (workflow) => Object.keys(workflow.inputs ?? {}).join(","),
    },
  });
  workflows
    .command("show")
    .description("show a workflow: its inputs, its nodes in order, its versions")
    .argument("<workflow>")
    .addOption(jsonOption())
    .addHelpText("after", "\nExamples:\n  rmhdag workflows show echo_test\n")
    .action(async (id: string, options: { json?: true }, command: Command) => {
      const client = connect(command, config);
      const workflow = await client.getWorkflow({ params: { workflow_id: id } });
      if (options.json === true) printJson(workflow);
      else describe(workflow);
    });
}

function describe({ workflow_id, name, description, version, inputs, graph, versions }: Workflow) {
  print(stripControlCharacters(`${workflow_id}: ${name}, version ${version}`));
  if (description !== null) print(stripControlCharacters(description));
  print("\nInputs:");
  const declared = Object.entries(inputs ?? {});
  if (declared.length === 0) print("  none");
  for (const [input, { type, required, default: fallback, description: meaning }] of declared) {
    const given = fallback === undefined ? "" : `, ${JSON.stringify(fallback)} unless given`;
    const need = required ? ", required" : given;
    print(
      stripControlCharacters(
        `  ${input}: ${type}${need}${meaning === undefined ? "" : `  (${meaning})`}`,
      ),
    );
  }
  print("\nNodes:");
  const byId = new Map(graph.nodes.map((node) => [node.node_id, node]));
  for (const { nodeId, lead } of arrangeNodes(graph)) {
    const node = byId.get(nodeId);
    const queue = node?.queue == null ? "" : ` on ${node.queue}`;
    print(`  ${lead}${nodeId}  ${node?.handler ?? node?.node_type ?? ""}${queue}`);
  }
  print("\nVersions:");
  for (const each of versions) {
    const current = each.is_current ? "  (current)" : "";
    print(
      `  ${each.workflow_hash.slice(0, 12)}  ${each.version}  ${ago(each.created_at) ?? ""}${current}`,
    );
  }
}
