import { createLogger } from "../../adapters/runtime/logger.ts";
import { isJsonObject } from "../../core/model/json.ts";
import type { WorkerConfig } from "../config.ts";
import { describeOwn, runAlone } from "./wiring.ts";

/** Instead of a handler: print the contracts of the folders, for `rmhdag validate`. */
const everyContract = "*";

/** Runs a handler and prints its result as JSON; its log goes to standard error. */
export async function runAndPrint(
  config: WorkerConfig,
  { handler, params }: { readonly handler: string; readonly params: string },
): Promise<number> {
  const destination = {
    write: (line: string) => {
      process.stderr.write(line);
    },
  };
  const log = createLogger({ name: handler, level: config.logLevel, format: "text", destination });
  if (handler === everyContract) {
    process.stdout.write(JSON.stringify({ handlers: await describeOwn(config, log) }));
    return 0;
  }
  const given = parse(params);
  if (!isJsonObject(given)) {
    process.stderr.write("The parameters must be a JSON object.\n");
    return 2;
  }
  const ended = await runAlone(config, { handler, params: given }, log);
  if (ended.status === "completed") {
    process.stdout.write(`${JSON.stringify(JSON.parse(ended.output), null, 2)}\n`);
    return 0;
  }
  const error = ended.status === "failed" ? ended.error : { code: "STOPPED", message: "stopped" };
  process.stderr.write(`${error.code}: ${error.message}\n`);
  return 1;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
