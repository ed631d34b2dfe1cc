import type { Command } from "commander";
import { Option } from "commander";
import type {
  LoadedFiles,
  LocatedFinding,
} from "../../adapters/workflow-files/load-workflow-files.ts";
import { loadWorkflowFiles } from "../../adapters/workflow-files/load-workflow-files.ts";
import { drawMermaid, drawText } from "../../core/dag/compile/draw-graph.ts";
import type { CliConfig } from "../common/config.ts";
import { plural } from "../common/format.ts";
import { print } from "../common/output.ts";
import { collect } from "./define-command.ts";
import { knownHandlers } from "./known-handlers.ts";

interface Options {
  readonly json?: true;
  readonly graph?: true | "text" | "mermaid";
  readonly handlers?: string[];
}

const examples = `
Examples:
  rmhdag validate workflows                    every *.yaml and *.yml in the folder
  rmhdag validate my.yaml --graph=mermaid      also draw the graph
  rmhdag validate workflows --json             findings for an editor or a CI step
  rmhdag handlers export > handlers.json       and then, without a server:
  rmhdag validate workflows --handlers handlers.json

Exit status: 0 without errors (warnings are allowed), 1 with errors, 2 for wrong usage.
`;

export function addValidate(program: Command, config: CliConfig): void {
  program
    .command("validate")
    .description("check workflow files and print every finding")
    .argument("<paths...>", "workflow files, or folders that hold them")
    .option("--json", "print findings as a JSON array")
    .option(
      "--handlers <file>",
      "also know the handlers of this folder, or of this file of `rmhdag handlers export`",
      collect,
      [],
    )
    .addOption(
      new Option(
        "--graph [format]",
        "print the compiled graphs, in both formats by default; put it after the paths",
      )
        .choices(["text", "mermaid"])
        .conflicts("json"),
    )
    .addHelpText("after", examples)
    .action(async (paths: string[], options: Options) => {
      const { handlers, queues } = await knownHandlers(config, options.handlers ?? []);
      const loaded = await loadWorkflowFiles(paths, {
        handlers,
        queues,
        env: config.templateEnv,
      });
      if (options.json === true) print(JSON.stringify(loaded.findings, null, 2));
      else printReport(loaded, options.graph);
      if (loaded.findings.some(isError)) process.exitCode = 1;
    });
}

function printReport({ files, workflows, findings }: LoadedFiles, graph: Options["graph"]): void {
  for (const finding of findings) print(line(finding));
  if (graph !== undefined) {
    for (const workflow of workflows) {
      if (graph !== "mermaid") print(drawText(workflow.graph));
      if (graph !== "text") print(drawMermaid(workflow.graph));
    }
  }
  const errors = findings.filter(isError).length;
  const warnings = findings.length - errors;
  const checked = `${plural(files.length, "file")} checked`;
  print(`${checked}: ${plural(errors, "error")}, ${plural(warnings, "warning")}`);
}

function line({ file, line, column, code, severity, message }: LocatedFinding): string {
  const mark = severity === "warning" ? "warning: " : "";
  return `${file}:${line}:${column} ${code} ${mark}${message}`;
}

function isError(finding: LocatedFinding): boolean {
  return finding.severity === "error";
}
