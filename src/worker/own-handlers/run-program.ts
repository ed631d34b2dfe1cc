/**
 * Runs a described program as a task. No shell reads its command; it leads its own process group, ends
 * with the worker (guard.ts), and gets its parameters as JSON on standard input and in RMHDAG_PARAMS. Lines of standard output that
 * start with `::` are messages to the worker; the result is the file RMHDAG_RESULT or the last line.
 */
import { spawn } from "node:child_process";
import type { ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { ignoreMissing } from "../../adapters/runtime/error-code.ts";
import { isJsonObject } from "../../core/model/json.ts";
import type { HandlerContext } from "../define-handler.ts";
import { PermanentError, TransientError } from "../errors.ts";
import { commandOf } from "./container.ts";
import { endGuarded, guarded, holdGuard } from "./guard.ts";
import { hearLine } from "./hear-line.ts";
import type { ProgramFile } from "./load-program.ts";

const longestParams = 64 * 1024;
const keptErrorLines = 40;

export async function runProgram(
  program: ProgramFile,
  folder: string,
  given: object,
  context: HandlerContext,
): Promise<unknown> {
  const { workDir } = context;
  const params = await fetchSources(program, { ...given }, context);
  const outputs: Record<string, string> = {};
  for (const name of Object.keys(program.outputs)) {
    outputs[name] = path.join(workDir, "outputs", name);
  }
  await mkdir(path.join(workDir, "outputs"), { recursive: true });
  const json = JSON.stringify({ ...params, ...(Object.keys(outputs).length > 0 && { outputs }) });
  const resultFile = path.join(workDir, "result.json");
  await writeFile(path.join(workDir, "params.json"), json);
  const env = {
    ...chosenEnvironment(program, context),
    ...(json.length <= longestParams ? { RMHDAG_PARAMS: json } : {}),
    RMHDAG_PARAMS_FILE: path.join(workDir, "params.json"),
    RMHDAG_RESULT: resultFile,
    RMHDAG_WORK_DIR: workDir,
    RMHDAG_TASK_ID: context.task_id,
    RMHDAG_ATTEMPT: String(context.attempt),
    ...(context.trace_parent === undefined ? {} : { TRACEPARENT: context.trace_parent }),
    ...(await checkpointEnvironment(context)),
  };
  const lastJson = await start(program, folder, { env, json }, context);
  const result = await readResult(resultFile, lastJson, program);
  for (const [name, target] of Object.entries(program.outputs)) {
    const file = outputs[name] ?? "";
    if ((await stat(file).catch(ignoreMissing)) === undefined) continue;
    const place = fillIn(target, context, params);
    await context.storage.putFile(place, file, { signal: context.signal });
    result[name] = place;
  }
  return result;
}

/** Sources that the parameters name become local files, and the parameters name those. */
async function fetchSources(
  { sources }: ProgramFile,
  params: Record<string, unknown>,
  { sources: resolver, workDir, signal }: HandlerContext,
): Promise<Record<string, unknown>> {
  for (const name of sources) {
    const value = params[name];
    if (typeof value !== "string") continue;
    const file = path.join(workDir, "sources", name, path.posix.basename(value) || "source");
    await mkdir(path.dirname(file), { recursive: true });
    const source = await resolver.resolve(value);
    const local = await source.localPath();
    if (local === undefined) await source.fetchTo(file, { signal });
    params[name] = local ?? file;
  }
  return params;
}

/** The few variables that every program needs, and those that its file names. */
function chosenEnvironment(
  { environment }: ProgramFile,
  { environment: all }: HandlerContext,
): Record<string, string> {
  const always = ["PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR"];
  const fixed = Array.isArray(environment) ? {} : environment;
  const named = [...always, ...(Array.isArray(environment) ? environment : [])];
  const passed = named.flatMap((name) => (all[name] === undefined ? [] : [[name, all[name]]]));
  return { ...(Object.fromEntries(passed) as Record<string, string>), ...fixed };
}

async function checkpointEnvironment(context: HandlerContext): Promise<Record<string, string>> {
  const saved = await context.checkpoint.load();
  return saved === undefined ? {} : { RMHDAG_CHECKPOINT: JSON.stringify(saved.data) };
}

async function start(
  program: ProgramFile,
  folder: string,
  given: { readonly env: Record<string, string>; readonly json: string },
  context: HandlerContext,
): Promise<string | undefined> {
  const { signal, workDir } = context;
  signal.throwIfAborted();
  const command = await commandOf(program, folder, workDir, given.env);
  const { file, args } = guarded(command);
  const child = spawn(file, args, {
    cwd: program.image === undefined ? folder : workDir,
    env: command.env,
    detached: true,
    stdio: ["pipe", "pipe", "pipe", "pipe"],
  }) as ChildProcessByStdio<Writable, Readable, Readable>;
  holdGuard(child);
  let stopped: Error | undefined;
  let killTimer: NodeJS.Timeout | undefined;
  const send = (name: NodeJS.Signals) => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, name);
    } catch {
      // The program has ended in the meantime.
    }
  };
  const stop = (reason: Error, graceMs: number) => {
    if (stopped !== undefined) return;
    stopped = reason;
    send("SIGTERM");
    killTimer = setTimeout(() => {
      endGuarded(child);
    }, graceMs);
  };
  const onAbort = () => {
    stop(signal.reason as Error, program.grace_seconds * 1000);
  };
  signal.addEventListener("abort", onAbort, { once: true });
  let printed = 0;
  const limit = program.max_output_mb * 1024 * 1024;
  const count = (stream: Readable) =>
    stream.on("data", (chunk: Buffer) => {
      printed += chunk.length;
      if (printed <= limit) return;
      const text = `The program printed more than ${program.max_output_mb} MB.`;
      stop(new PermanentError(text, { code: "OUTPUT_TOO_LARGE" }), 0);
    });
  count(child.stdout);
  count(child.stderr);
  const saves: Promise<void>[] = [];
  let lastJson: string | undefined;
  const lines = createInterface({ input: child.stdout });
  lines.on("line", (line) => {
    const saved = hearLine(line, context);
    if (saved instanceof Promise) saves.push(saved);
    else if (!saved && line.trimStart().startsWith("{")) lastJson = line;
  });
  const errors: string[] = [];
  createInterface({ input: child.stderr }).on("line", (line) => {
    context.logger.info(line);
    errors.push(line);
    if (errors.length > keptErrorLines) errors.shift();
  });
  child.stdin.on("error", () => undefined).end(given.json);
  try {
    const { code, by } = await ended(child);
    // Processes that it left behind, and the watcher.
    send("SIGKILL");
    if (stopped !== undefined) throw stopped;
    await Promise.all(saves);
    if (code === 0) return lastJson;
    throw failure(program, code, by, errors);
  } finally {
    clearTimeout(killTimer);
    signal.removeEventListener("abort", onAbort);
  }
}

/** Does not wait for `close`, which the watcher holds back by its file descriptor. */
async function ended(
  child: ChildProcessByStdio<Writable, Readable, Readable>,
): Promise<{ code: number | null; by: NodeJS.Signals | null }> {
  const read = [child.stdout, child.stderr].map((stream) => once(stream, "close"));
  const end = new Promise<{ code: number | null; by: NodeJS.Signals | null }>((resolve, reject) => {
    child.once("error", (error) => {
      reject(
        new PermanentError(`The program cannot be started: ${error.message}`, {
          code: "PROGRAM_NOT_STARTED",
        }),
      );
    });
    child.once("exit", (code, by) => {
      resolve({ code, by });
    });
  });
  const [status] = await Promise.all([end, ...read]);
  return status;
}

/** The status of `docker run` and `podman run` when no container came to run the program. */
const notContained = 125;

function failure(
  { command, image, retry_exit_codes }: ProgramFile,
  code: number | null,
  by: NodeJS.Signals | null,
  errors: readonly string[],
): Error {
  if (image !== undefined && code === notContained) {
    const reason = errors.find((line) => line.trim() !== "") ?? "it gave no reason.";
    // The service of the container engine may be back for the next attempt.
    return new TransientError(`No container of the image ${image} could be started: ${reason}`, {
      code: "CONTAINER_NOT_STARTED",
    });
  }
  const last = errors.at(-1);
  const how = code === null ? `was ended by ${by ?? "a signal"}` : `ended with status ${code}`;
  const text = `${path.basename(command[0] ?? "")} ${how}${last === undefined ? "." : `: ${last}`}`;
  const mayRetry = code === null || retry_exit_codes.includes(code);
  const details = { exit_code: code, signal: by };
  return mayRetry
    ? new TransientError(text, { code: "PROGRAM_FAILED", details })
    : new PermanentError(text, { code: "PROGRAM_FAILED", details });
}

async function readResult(
  file: string,
  lastJson: string | undefined,
  { max_output_mb }: ProgramFile,
): Promise<Record<string, unknown>> {
  const size = (await stat(file).catch(ignoreMissing))?.size;
  if (size !== undefined && size > max_output_mb * 1024 * 1024) {
    throw new PermanentError(`The result is larger than ${max_output_mb} MB.`, {
      code: "OUTPUT_TOO_LARGE",
    });
  }
  const text = size === undefined ? lastJson : await readFile(file, "utf8");
  if (text === undefined) return {};
  try {
    const value: unknown = JSON.parse(text);
    if (isJsonObject(value)) return { ...value };
  } catch {
    // Said below.
  }
  throw new PermanentError("The result of the program is not a JSON object.", {
    code: "INVALID_RESULT",
  });
}

/** `{task_id}`, `{job_id}`, and the parameters by name, in the place of an output. */
function fillIn(
  target: string,
  { task_id, job_id }: HandlerContext,
  params: Record<string, unknown>,
): string {
  return target.replaceAll(/\{(\w+)\}/g, (whole, name: string) => {
    const value = { ...params, task_id, job_id }[name];
    if (typeof value === "string") return value;
    return typeof value === "number" ? String(value) : whole;
  });
}
