/**
 * The spans of a traced task: how long it waited in its queue, the worker's part from the message to
 * the report, the handler, and each program of GDAL that the handler ran.
 */
import type { Delivery } from "../adapters/broker/broker.ts";
import type { Gdal } from "../adapters/gdal/gdal.ts";
import type { Tracer } from "../adapters/tracing/tracer.ts";
import type { TaskMessage } from "../core/messages.ts";
import { traceIdOf } from "../core/trace/trace-parent.ts";
import type { ExecuteDependencies } from "./execute-task.ts";

export interface TracedTask {
  /** With the context of the handler's span, a GDAL that makes spans, and ids in every log line. */
  readonly deps: ExecuteDependencies;
  /** The handler has ended. */
  ran(ending: { readonly status: string; readonly error?: { readonly message: string } }): void;
  /** The end is reported. */
  end(): void;
}

/** Undefined: the task is not traced. */
export function traceTask(
  deps: ExecuteDependencies,
  message: TaskMessage,
  { deliveryCount }: Pick<Delivery, "deliveryCount">,
): TracedTask | undefined {
  const { tracer } = deps;
  const { trace_parent: parent, sent_at, task_id, job_id, node_id, handler, queue } = message;
  if (tracer === undefined || parent === undefined) return undefined;
  const attributes = {
    "rmhdag.job_id": job_id,
    "rmhdag.node_id": node_id,
    "rmhdag.task_id": task_id,
    "rmhdag.handler": handler,
    "rmhdag.attempt": message.attempt,
    "messaging.destination.name": queue,
  };
  if (sent_at !== undefined) {
    // The clock of another machine may be ahead of ours.
    const startedAt = Math.min(sent_at, tracer.now());
    tracer.start(`wait in ${queue}`, { parent, startedAt, attributes }).end();
  }
  const task = tracer.start(`task ${node_id.replace(/__\d+$/, "")}`, {
    kind: "consumer",
    parent,
    attributes: { ...attributes, "rmhdag.delivery": deliveryCount },
  });
  const run = tracer.start(handler, { parent: task.context, attributes });
  const trace_id = traceIdOf(parent) ?? undefined;
  let error: string | undefined;
  return {
    deps: {
      ...deps,
      gdal: traceGdal(tracer, deps.gdal, run.context),
      traceParent: run.context,
      log: deps.log.child({ trace_id, job_id, node_id }),
    },
    ran(ending) {
      error = ending.status === "completed" ? undefined : (ending.error?.message ?? ending.status);
      run.end({ error });
    },
    end() {
      task.end({ error });
    },
  };
}

function traceGdal(tracer: Tracer, gdal: Gdal, parent: string): Gdal {
  return {
    ...gdal,
    async run(program, args, options) {
      const span = tracer.start(program, {
        parent,
        attributes: { "rmhdag.gdal_engine": gdal.engine, "process.command": program },
      });
      try {
        const output = await gdal.run(program, args, options);
        span.end();
        return output;
      } catch (failure) {
        // Its text may hold paths and secrets; the handler's span has the error that is reported.
        span.end({ error: failure instanceof Error ? failure.name : "failed" });
        throw failure;
      }
    },
  };
}
