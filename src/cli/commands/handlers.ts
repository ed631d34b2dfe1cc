import { once } from "node:events";
import type { Command } from "commander";
import type { HandlerView } from "../../core/api/handlers.ts";
import { describeContract } from "../../core/handlers/contract-data.ts";
import { describeFields, exampleNode } from "../../core/handlers/describe-schema.ts";
import { shippedHandlers } from "../../core/handlers/index.ts";
import type { JsonObject } from "../../core/model/json.ts";
import type { CliConfig } from "../common/config.ts";
import { stripControlCharacters } from "../common/format.ts";
import { printJson } from "../common/output.ts";
import { spawnProgram } from "../up/spawn-program.ts";
import { connect, dataFolder } from "./connect.ts";
import {
  addCommand,
  handlerFolders,
  handlersOption,
  listCommand,
  printResult,
} from "./define-command.ts";

export function addHandlers(program: Command, config: CliConfig): void {
  const handlers = program
    .command("handlers")
    .description("list, show and export the handlers that workflows may name")
    .addHelpText(
      "after",
      "\nExamples:\n  rmhdag handlers list\n  rmhdag handlers show raster.create_cog\n" +
        "  rmhdag handlers export > handlers.json\n",
    );
  const list = handlers
    .command("list")
    .description("list the handlers, by name, with the workers that offer them")
    .addHelpText("after", "\nExamples:\n  rmhdag handlers list --json\n");
  listCommand(list, config, {
    read: async (client) => (await client.listHandlers()).items,
    none: "No handler is known.",
    columns: {
      HANDLER: (handler) => handler.name,
      QUEUE: (handler) => handler.queue,
      STATE: stateOf,
      WORKERS: (handler) => workersOf(handler).length,
      DESCRIPTION: (handler) => handler.description.split("\n")[0] ?? "",
    },
  });
  addCommand(
    handlers,
    "show",
    "show a handler: parameters, result, an example of a node, who offers it",
    "hello_world",
  )
    .argument("<handler>")
    .action(async (name: string, _, command: Command) => {
      const handler = await connect(command, config).getHandler({ params: { name } });
      printResult(command, handler, showLines(handler));
    });
  handlers
    .command("export")
    .description("print all contracts as JSON, for `rmhdag validate --handlers`")
    .option("--shipped", "only those that ship with rmhdag; needs no server")
    .addHelpText("after", "\nExamples:\n  rmhdag handlers export > handlers.json\n")
    .action(async (options: { shipped?: true }, command: Command) => {
      const shipped = [...shippedHandlers.values()].map(describeContract);
      const known =
        options.shipped === true
          ? shipped
          : (await connect(command, config).listHandlers()).items.flatMap(
              ({ contracts }) => contracts[0]?.contract ?? [],
            );
      printJson({ handlers: known });
    });
  addRun(handlers, config);
  addCommand(handlers, "forget", "forget a handler that no worker offers any more", "acme.old")
    .argument("<handler>")
    .action(async (name: string, _, command: Command) => {
      const answer = await connect(command, config).forgetHandler({ params: { name } });
      printResult(command, answer, [`${name} is forgotten`]);
    });
}

function addRun(handlers: Command, config: CliConfig): void {
  handlers
    .command("run")
    .description("run one handler alone on this machine, without a job; prints its result")
    .argument("<handler>")
    .option("--params <json>", "its parameters", "{}")
    .addOption(handlersOption())
    .addHelpText(
      "after",
      '\nExamples:\n  rmhdag handlers run hello_world --params \'{"name":"Ada"}\'\n' +
        "  rmhdag handlers run acme.double --params '{\"n\":2}' --handlers ./handlers\n",
    )
    .action(async (name: string, { params, handlers: folders }: RunOptions, command: Command) => {
      const env = {
        ...config.environment,
        ...handlerFolders(folders, config),
        RMHDAG_DATA_DIR: dataFolder(command, config),
        RMHDAG_RUN_HANDLER: name,
        RMHDAG_RUN_PARAMS: params,
      };
      const child = spawnProgram("worker", env, "inherit");
      const [code] = (await once(child, "close")) as [number | null];
      process.exitCode = code ?? 1;
    });
}

interface RunOptions {
  readonly params: string;
  readonly handlers?: string[];
}

function stateOf({ alive, conflict }: HandlerView): string {
  if (conflict) return "conflict";
  return alive ? "offered" : "no worker";
}

function workersOf({ contracts }: HandlerView): string[] {
  return contracts.flatMap(({ offered_by }) => offered_by.map(({ worker_id }) => worker_id));
}

function showLines(handler: HandlerView): string[] {
  const lines = [`${handler.name}: ${handler.description || "(no description)"}`];
  if (handler.conflict) {
    lines.push("", "Live workers offer different contracts; each task is checked by its worker.");
  }
  for (const { contract, offered_by, contract_hash } of handler.contracts) {
    if (handler.contracts.length > 1) lines.push("", `Contract ${contract_hash ?? ""}`);
    lines.push(`Queue ${contract.queue}, at most ${contract.timeout_seconds} s an attempt`);
    lines.push("", "Parameters:", ...fieldLines(contract.params));
    lines.push("", "Result:", ...fieldLines(contract.result));
    lines.push("", "A node in a workflow:", ...indent(exampleNode(contract)));
    const names = offered_by.map(
      ({ worker_id, queues }) => `  ${worker_id} (${queues.join(", ")})`,
    );
    lines.push("", "Offered by:", ...(names.length > 0 ? names : ["  no living worker"]));
  }
  return lines.map(stripControlCharacters);
}

/** One line for each property of an object's schema. */
function fieldLines(schema: JsonObject): string[] {
  const lines = describeFields(schema).map(({ name, text }) => `  ${name}: ${text}`);
  return lines.length > 0 ? lines : ["  any"];
}

function indent(text: string): string[] {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => `  ${line}`);
}
