import { readFile, stat } from "node:fs/promises";
import path from "node:path";
import { text } from "node:stream/consumers";
import { z } from "zod";
import { contractData } from "../../core/handlers/contract-data.ts";
import { handlerCatalogue } from "../../core/handlers/index.ts";
import type { HandlerContract } from "../../core/handlers/index.ts";
import type { CliConfig } from "../common/config.ts";
import { UsageError } from "../common/failure.ts";
import { spawnProgram } from "../up/spawn-program.ts";
import { handlerFolders } from "./define-command.ts";

/** What `rmhdag handlers export` prints. */
const exportedHandlers = z.object({ handlers: z.array(contractData) });

/** The handlers and queues that a check without a server knows: those that ship, and those of files. */
export async function knownHandlers(
  config: CliConfig,
  files: readonly string[],
): Promise<{
  readonly handlers: ReadonlyMap<string, HandlerContract>;
  readonly queues: ReadonlySet<string>;
}> {
  const handlers = new Map(handlerCatalogue);
  const queues = new Set(config.queues);
  const given = files.length > 0 ? files : folderSettings(config);
  for (const file of given) {
    const isFolder = (await stat(file).catch(() => undefined))?.isDirectory() === true;
    for (const contract of await toContracts(
      file,
      isFolder ? await describeFolder(file, config) : await readText(file),
    )) {
      queues.add(contract.queue);
      if (!handlerCatalogue.has(contract.name)) handlers.set(contract.name, contract);
    }
  }
  return { handlers, queues };
}

/** RMHDAG_HANDLERS, or ./handlers if it is there, as the commands that start workers read it. */
function folderSettings(config: CliConfig): string[] {
  const { RMHDAG_HANDLERS: found } = handlerFolders(undefined, config);
  return (found ?? config.environment["RMHDAG_HANDLERS"] ?? "").split(",").filter(Boolean);
}

/** The worker's program loads modules and describes them: the command line has none of its code. */
async function describeFolder(folder: string, config: CliConfig): Promise<string> {
  const child = spawnProgram(
    "worker",
    {
      ...config.environment,
      RMHDAG_HANDLERS: path.resolve(folder),
      RMHDAG_RUN_HANDLER: "*",
      RMHDAG_DATA_DIR: config.dataFolder,
    },
    "pipe",
  );
  child.stderr?.pipe(process.stderr);
  return child.stdout === null ? "" : text(child.stdout);
}

async function readText(file: string): Promise<string> {
  return readFile(file, "utf8").catch((error: unknown) => {
    throw new UsageError(`${file} cannot be read: ${String(error)}`);
  });
}

async function toContracts(file: string, json: string): Promise<HandlerContract[]> {
  const { toContract } = await import("../../adapters/json-schema/to-contract.ts");
  try {
    return exportedHandlers.parse(JSON.parse(json)).handlers.map(toContract);
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
    throw new UsageError(`${file} is not a file of \`rmhdag handlers export\`: ${reason}`);
  }
}
