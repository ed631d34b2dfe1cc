/** Runs one delivery, from its message to its report. Each step is a function that throws on failure. */
import { createHash } from "node:crypto";
import type { z } from "zod";
import type { Delivery } from "../adapters/broker/broker.ts";
import { reach } from "../adapters/runtime/fail-points.ts";
import type { Storage } from "../adapters/storage/storage.ts";
import { taskMessage } from "../core/messages.ts";
import type { TaskMessage } from "../core/messages.ts";
import { checkOutput, cleanText, inlineOutputBytes } from "../core/model/output.ts";
import type { OutputReference } from "../core/model/output.ts";
import { classifyError } from "./classify-error.ts";
import type { Handler } from "./define-handler.ts";
import { HandlerError, PermanentError } from "./errors.ts";
import { createContext } from "./handler-context.ts";
import type { ContextDependencies } from "./handler-context.ts";
import type { Outcome, RunningTask } from "./reporter.ts";
import { armStop } from "./task-timeout.ts";
import type { StopCause, StopSignal } from "./task-timeout.ts";

const maxIssues = 10;

export interface ExecuteDependencies extends ContextDependencies {
  readonly handlers: ReadonlyMap<string, Handler>;
  readonly inlineOutputBytes?: number;
}

/** How a task ended: with an outcome to report, or stopped from outside. */
type Ending = Outcome | { readonly status: "stopped"; readonly cause: StopCause };

export async function executeTask(deps: ExecuteDependencies, delivery: Delivery): Promise<void> {
  const message = parseMessage(delivery.body);
  if (typeof message === "string") {
    await delivery.deadLetter("InvalidMessage", cleanText(message));
    return;
  }
  reach("worker.received");
  const task = { message, delivery };
  await settle(deps, task, await run(deps, task));
}

function parseMessage(body: string): TaskMessage | string {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch (error) {
    return `The body is not JSON: ${String(error)}`;
  }
  const parsed = taskMessage.safeParse(value);
  return parsed.success ? parsed.data : describeIssues(parsed.error);
}

/** Lists what is wrong with a message, parameters or a result, each issue with its JSON pointer. */
function describeIssues(error: z.ZodError): string {
  const texts = error.issues
    .slice(0, maxIssues)
    .map(({ path, message }) => `${pointer(path)}: ${message}`);
  const more = error.issues.length - texts.length;
  return texts.join("; ") + (more > 0 ? `; and ${more} more` : "");
}

function pointer(path: readonly PropertyKey[]): string {
  if (path.length === 0) return "the whole";
  return path.map((key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

async function run(deps: ExecuteDependencies, task: RunningTask): Promise<Ending> {
  const stop = armStop(task.delivery, task.message.timeout_seconds * 1000);
  try {
    const handler = findHandler(deps, task.message.handler);
    const params = validateParams(handler, task.message.params);
    const result = await runHandler(deps, task, handler, params, stop);
    reach("worker.after_run");
    return { status: "completed", output: await toOutput(deps, task.message, handler, result) };
  } catch (error) {
    return toEnding(error, stop.cause(), task.message);
  } finally {
    stop.disarm();
  }
}

function findHandler(deps: ExecuteDependencies, name: string): Handler {
  const handler = deps.handlers.get(name);
  if (handler !== undefined) return handler;
  throw new PermanentError(`There is no handler "${name}".`, { code: "UNKNOWN_HANDLER" });
}

function validateParams(handler: Handler, params: unknown): unknown {
  const parsed = handler.contract.params.safeParse(params);
  if (parsed.success) return parsed.data;
  const message = `The parameters do not fit "${handler.contract.name}": ${describeIssues(parsed.error)}`;
  throw new PermanentError(message, { code: "INVALID_PARAMS" });
}

async function runHandler(
  deps: ExecuteDependencies,
  task: RunningTask,
  handler: Handler,
  params: unknown,
  stop: StopSignal,
): Promise<unknown> {
  const prepared = createContext(deps, task, stop);
  try {
    stop.throwIfStopped();
    reach("worker.before_run");
    return await new Promise((resolve, reject) => {
      stop.onAbandoned(reject);
      handler.run(params, prepared.context).then(resolve, reject);
    });
  } finally {
    await prepared.cleanUp().catch((err: unknown) => {
      deps.log.warn({ err, task_id: task.message.task_id }, "a work folder was not removed");
    });
  }
}

async function toOutput(
  deps: ExecuteDependencies,
  message: TaskMessage,
  handler: Handler,
  result: unknown,
): Promise<string> {
  // Must come before the contract: a schema would follow a cycle without end.
  const checked = checkOutput(result);
  if (!checked.ok) throw new PermanentError(checked.error.message, { code: checked.error.code });
  const parsed = handler.contract.result.safeParse(result);
  if (!parsed.success) {
    const text = `The result does not fit "${handler.contract.name}": ${describeIssues(parsed.error)}`;
    throw new PermanentError(text, { code: "INVALID_RESULT" });
  }
  const isSmall = checked.bytes <= (deps.inlineOutputBytes ?? inlineOutputBytes);
  return isSmall
    ? checked.json
    : JSON.stringify(await storeOutput(deps.storage, message, checked.json));
}

async function storeOutput(
  storage: Storage,
  message: TaskMessage,
  json: string,
): Promise<OutputReference> {
  const bytes = new TextEncoder().encode(json);
  const part = (id: string) => id.replaceAll(/[^\w-]/g, "_");
  const $ref = `results/${part(message.job_id)}/${part(message.task_id)}.json`;
  await storage.put($ref, bytes);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  return { $ref, bytes: bytes.length, sha256 };
}

/**
 * A handler that throws after its signal was aborted has stopped, and its error is not reported. Only
 * a permanent HandlerError still counts after a timeout: the handler found it before it stopped.
 */
function toEnding(error: unknown, cause: StopCause | undefined, message: TaskMessage): Ending {
  if (cause === "timeout") {
    const text = `The task took longer than its ${message.timeout_seconds} s.`;
    const isPermanent = error instanceof HandlerError && error.category === "permanent";
    if (!isPermanent) {
      return { status: "failed", error: { code: "TIMEOUT", message: text, category: "transient" } };
    }
  } else if (cause !== undefined) return { status: "stopped", cause };
  return { status: "failed", error: classifyError(error) };
}

async function settle(deps: ExecuteDependencies, task: RunningTask, ending: Ending): Promise<void> {
  const { delivery, message } = task;
  // No child logger: creating one costs more than running a short task.
  const { log } = deps;
  const about = { task_id: message.task_id, handler: message.handler };
  if (ending.status === "stopped") {
    log.info({ ...about, cause: ending.cause }, "task stopped");
    if (ending.cause === "shutdown") await delivery.release();
    // A cancelled job needs no report. After `held_too_long` another worker retries; after `lost`
    // the retry has no effect.
    else if (ending.cause === "cancelled") await delivery.complete();
    else await delivery.retry({ reason: `given up: ${ending.cause}` });
    return;
  }
  if (ending.status === "failed") log.info({ ...about, error: ending.error }, "task failed");
  reach("worker.before_report");
  const settled = await deps.reporter.report(task, ending);
  reach("worker.after_report");
  if (settled === "lost") log.warn(about, "the report came too late: the task is no longer ours");
}
