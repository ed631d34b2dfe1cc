/** Runs one delivery, from its message to its report. Each step is a function that throws on failure. */
import type { z } from "zod";
import type { Delivery } from "../adapters/broker/broker.ts";
import { reach } from "../adapters/runtime/fail-points.ts";
import { KnownError } from "../adapters/runtime/known-error.ts";
import type { Tracer } from "../adapters/tracing/tracer.ts";
import { resolveReferences, storeValue } from "../adapters/storage/stored-values.ts";
import type { ParameterDefaults } from "../core/handlers/parameter-defaults.ts";
import { parseParams } from "../core/handlers/parameters.ts";
import { taskMessage } from "../core/messages.ts";
import type { TaskMessage } from "../core/messages.ts";
import { Mask } from "../core/model/mask.ts";
import { valueLimits } from "../core/model/limits.ts";
import type { Json, JsonObject } from "../core/model/json.ts";
import { isJsonObject } from "../core/model/json.ts";
import { checkOutput, cleanText } from "../core/model/output.ts";
import { classifyError } from "./classify-error.ts";
import type { Handler } from "./define-handler.ts";
import { HandlerError, PermanentError } from "./errors.ts";
import { TaskContext } from "./handler-context.ts";
import type { ContextDependencies } from "./handler-context.ts";
import type { Outcome, RunningTask } from "./reporter.ts";
import { armStop } from "./task-timeout.ts";
import type { StopCause, StopSignal } from "./task-timeout.ts";
import { traceTask } from "./trace-task.ts";
import type { TaskOutcome, WorkerMetrics } from "./worker-metrics.ts";

const maxIssues = 10;

export interface ExecuteDependencies extends ContextDependencies {
  readonly handlers: { get(name: string): Handler | undefined };
  readonly inlineOutputBytes?: number;
  /** Of the site, for tasks that leave parameters out; undefined: there are none. */
  readonly parameterDefaults?: ParameterDefaults | undefined;
  /** Called with every task that has ended; undefined: tasks are not counted. */
  readonly onEnded?: WorkerMetrics["observe"] | undefined;
  /** Undefined: tasks are not traced. */
  readonly tracer?: Tracer | undefined;
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
  const mask = message.secrets && new Mask(message.secrets);
  const since = deps.onEnded === undefined ? 0 : performance.now();
  const traced = traceTask(deps, message, delivery);
  const ended = await run(traced?.deps ?? deps, task, mask);
  const ending = mask === undefined ? ended : hideSecrets(ended, mask);
  traced?.ran(ending);
  const outcome =
    ending.status === "stopped"
      ? await giveUp(traced?.deps ?? deps, task, ending.cause)
      : await report(traced?.deps ?? deps, task, ending);
  traced?.end();
  deps.onEnded?.(message.handler, outcome, (performance.now() - since) / 1000);
}

/** How a run without a job ended. */
export type RunResult = Outcome | { readonly status: "stopped" };

/** Runs a handler as a task would, and answers what would have been reported. */
export async function runOnce(
  deps: ExecuteDependencies,
  { handler, params }: Pick<TaskMessage, "handler" | "params">,
): Promise<RunResult> {
  const timeout_seconds = deps.handlers.get(handler)?.contract.timeout_seconds ?? 300;
  const message: TaskMessage = {
    task_id: "alone_alone_0",
    job_id: "alone",
    node_id: "alone",
    handler,
    params,
    queue: "alone",
    timeout_seconds,
    attempt: 0,
    retry_count: 0,
  };
  // Nothing settles it: the outcome is the answer.
  const body = JSON.stringify(message);
  const delivery = { body, onAbort: () => () => undefined } as unknown as Delivery;
  return run(deps, { message, delivery }, undefined);
}

/** Errors are stored and shown; outputs are passed on as they are and hidden where they are shown. */
function hideSecrets(ending: Ending, mask: Mask): Ending {
  if (ending.status !== "failed") return ending;
  const { message, details, ...rest } = ending.error;
  const shown = { ...rest, message: mask.text(message) };
  const error = details === undefined ? shown : { ...shown, details: mask.value(details) };
  return { status: "failed", error };
}

/** Answers the message, or what is wrong with it. */
export function parseMessage(body: string): TaskMessage | string {
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

async function run(
  deps: ExecuteDependencies,
  task: RunningTask,
  mask: Mask | undefined,
): Promise<Ending> {
  const stop = armStop(task.delivery, task.message.timeout_seconds * 1000);
  let context: TaskContext | undefined;
  try {
    const handler = findHandler(deps, task.message.handler);
    // Looking through the text is cheaper than walking the parameters of every small task.
    const given = task.delivery.body.includes('"$ref"')
      ? await loadParams(deps, task, handler.streams ?? [])
      : task.message.params;
    const params = validateParams(handler, given, deps.parameterDefaults);
    context = new TaskContext(deps, task, stop, mask);
    stop.throwIfStopped();
    reach("worker.before_run");
    const result = await runHandler(handler, params, context, stop);
    reach("worker.after_run");
    const output = toOutput(deps, task.message, handler, result);
    // Each await costs a short task a turn.
    return { status: "completed", output: typeof output === "string" ? output : await output };
  } catch (error) {
    const ending = toEnding(error, stop.cause(), task.message);
    const isExpected = error instanceof HandlerError || error instanceof KnownError;
    if (ending.status === "failed" && !isExpected) {
      // The report leaves out paths and stack, which only operators may see.
      deps.log.warn({ err: error, task_id: task.message.task_id }, "a handler failed unexpectedly");
    }
    return ending;
  } finally {
    stop.disarm();
    const cleaning = context?.cleanUp()?.catch((err: unknown) => {
      deps.log.warn({ err, task_id: task.message.task_id }, "a work folder was not removed");
    });
    if (cleaning !== undefined) await cleaning;
  }
}

function findHandler(deps: ExecuteDependencies, name: string): Handler {
  const handler = deps.handlers.get(name);
  if (handler !== undefined) return handler;
  throw new PermanentError(`There is no handler "${name}".`, { code: "UNKNOWN_HANDLER" });
}

/** The parameters with their large values, without those that the handler streams. */
async function loadParams(
  deps: ExecuteDependencies,
  { delivery, message: { params } }: RunningTask,
  streams: readonly string[],
): Promise<JsonObject> {
  const { storage } = deps.reachOf?.(delivery) ?? deps;
  const loaded: Record<string, Json> = { ...params };
  for (const [name, value] of Object.entries(params)) {
    if (!streams.includes(name)) loaded[name] = await resolveReferences(storage, value);
  }
  return loaded;
}

function validateParams(
  { contract }: Handler,
  params: unknown,
  defaults: ParameterDefaults | undefined,
): unknown {
  const parsed = isJsonObject(params)
    ? parseParams(contract, params, defaults)
    : contract.params.safeParse(params);
  if (parsed.success) return parsed.data;
  const message = `The parameters do not fit "${contract.name}": ${describeIssues(parsed.error)}`;
  throw new PermanentError(message, { code: "INVALID_PARAMS" });
}

function runHandler(
  handler: Handler,
  params: unknown,
  context: TaskContext,
  stop: StopSignal,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    stop.onAbandoned(reject);
    handler.run(params, context).then(resolve, reject);
  });
}

/** The output as JSON; a promise where it is too large for a report and goes to storage. */
function toOutput(
  deps: ExecuteDependencies,
  message: TaskMessage,
  handler: Handler,
  result: unknown,
): string | Promise<string> {
  // Must come before the contract: a schema would follow a cycle without end.
  const checked = checkOutput(result);
  if (!checked.ok) throw new PermanentError(checked.error.message, { code: checked.error.code });
  const parsed = handler.contract.result.safeParse(result);
  if (!parsed.success) {
    const text = `The result does not fit "${handler.contract.name}": ${describeIssues(parsed.error)}`;
    throw new PermanentError(text, { code: "INVALID_RESULT" });
  }
  const isSmall = checked.bytes <= (deps.inlineOutputBytes ?? valueLimits.inline);
  // Without storage of its own the worker sends the whole, and the orchestrator stores it.
  return isSmall || deps.reachOf !== undefined
    ? checked.json
    : storeValue(deps.storage, message.job_id, checked.json).then((stored) =>
        JSON.stringify(stored),
      );
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

/** Settles the delivery of a task that was stopped from outside. */
async function giveUp(
  { log }: ExecuteDependencies,
  { delivery, message }: RunningTask,
  cause: StopCause,
): Promise<TaskOutcome> {
  log.info({ ...about(message), cause }, "task stopped");
  if (cause === "shutdown") await delivery.release();
  // A cancelled job needs no report. After `held_too_long` another worker retries; after `lost` the
  // retry has no effect.
  else if (cause === "cancelled") await delivery.complete();
  else await delivery.retry({ reason: `given up: ${cause}` });
  return cause === "lost" ? "lost" : "stopped";
}

async function report(
  { log, reporter }: ExecuteDependencies,
  task: RunningTask,
  outcome: Outcome,
): Promise<TaskOutcome> {
  if (outcome.status === "failed") {
    log.info({ ...about(task.message), error: outcome.error }, "task failed");
  }
  reach("worker.before_report");
  const settled = await reporter.report(task, outcome);
  reach("worker.after_report");
  if (settled === "ok") return outcome.status;
  log.warn(about(task.message), "the report came too late: the task is no longer ours");
  return "lost";
}

/** For log lines. There is no child logger: creating one costs more than running a short task. */
function about({ task_id, job_id, node_id, handler }: TaskMessage) {
  return { task_id, job_id, node_id, handler };
}
