import { spawn } from "node:child_process";
import type { ChildProcessByStdio } from "node:child_process";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import pLimit from "p-limit";
import type { JsonObject } from "../../core/model/json.ts";

export interface HandlerTest {
  readonly handler: string;
  readonly params: JsonObject;
}

export type TestEnd =
  | { readonly status: "completed"; readonly output: JsonObject; readonly error: null }
  | {
      readonly status: "failed";
      readonly output: null;
      readonly error: { readonly code: string; readonly message: string };
    };

/** Programs never import each other: the worker is a process. It lies beside ours in dist/programs. */
const worker = fileURLToPath(new URL("../../programs/worker.js", import.meta.url));

const endWithParent = new URL("../../adapters/runtime/end-with-parent.js", import.meta.url).href;

/** What a handler must not see: it runs beside the orchestrator and not in its name. */
const withheld = [
  "DATABASE_URL",
  "MIGRATION_DATABASE_URL",
  "EXTERNAL_DATABASE_URL",
  "DAG_SERVICE_TOKENS",
  "CALLBACK_SIGNING_KEY",
  "RUN_MODE",
];

/** Tests run two at a time, so that they cannot take the machine from the orchestrator. */
const limit = pLimit(2);

/** Runs one handler on this machine, as `rmhdag handlers run` does: no job, no queue, no database. */
export function testHandler(
  environment: NodeJS.ProcessEnv,
  { handler, params }: HandlerTest,
  signal: AbortSignal,
): Promise<TestEnd & { readonly log: readonly string[] }> {
  return limit(async () => {
    signal.throwIfAborted();
    const env: NodeJS.ProcessEnv = {
      ...environment,
      RMHDAG_RUN_HANDLER: handler,
      RMHDAG_RUN_PARAMS: JSON.stringify(params),
    };
    for (const name of withheld) Reflect.deleteProperty(env, name);
    const child = spawn(process.execPath, ["--import", endWithParent, worker], {
      env,
      stdio: ["ignore", "pipe", "pipe", "ipc"],
      signal,
      killSignal: "SIGKILL",
    }) as ChildProcessByStdio<null, Readable, Readable>;
    const ended = new Promise<number | null>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", resolve);
    });
    const [code, output, errors] = await Promise.all([
      ended,
      text(child.stdout),
      text(child.stderr),
    ]);
    const log = errors.split("\n").filter((line) => line !== "");
    if (code === 0) {
      const result = JSON.parse(output) as JsonObject;
      return { status: "completed", output: result, error: null, log };
    }
    // The last line is the error: `CODE: message`.
    const last = log.pop() ?? `The worker ended with ${code ?? "a signal"}.`;
    const [, found = "HANDLER_FAILED", message = last] = /^([A-Z][A-Z_]+): (.*)$/.exec(last) ?? [];
    return { status: "failed", output: null, error: { code: found, message }, log };
  });
}
