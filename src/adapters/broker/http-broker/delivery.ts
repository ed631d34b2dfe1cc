import type { Client } from "../../../core/api/client.ts";
import type { JsonObject } from "../../../core/model/json.ts";
import type { TaskError } from "../../../core/model/task.ts";
import type { Batcher } from "../../runtime/batcher.ts";
import type { AbortCause, Delivery, Settled } from "../broker.ts";
import { DeliveryAborted, leaseHeader, timeoutHeader } from "../broker.ts";
import type { HttpRenewal } from "./renewal.ts";

export interface HttpDelivery {
  readonly delivery: Delivery;
  readonly lease: string;
  isSettled(): boolean;
  abort(cause: AbortCause): void;
}

type Report = Parameters<Client["reportTasks"]>[0]["body"]["results"][number];
type Task = Awaited<ReturnType<Client["leaseTasks"]>>["tasks"][number];

export function createHttpDelivery(
  deps: {
    readonly client: Client;
    readonly worker_id: string;
    readonly reports: Batcher<Report, Settled>;
    readonly renewal: HttpRenewal;
    /** The handler has done its work: what is left is to tell. */
    readonly onSettling: () => void;
  },
  task: Task,
): HttpDelivery {
  const { lease } = task;
  const listeners = new Set<(reason: DeliveryAborted) => void>();
  let controller: AbortController | undefined;
  let aborted: DeliveryAborted | undefined;
  let settled = false;

  async function settleOnce(settle: () => Promise<Settled>): Promise<Settled> {
    if (settled) return "lost";
    settled = true;
    deps.onSettling();
    try {
      return await settle();
    } catch (error) {
      settled = false;
      throw error;
    }
  }

  /** A cancelled message is deleted by its release. */
  const release = () =>
    settleOnce(async () => {
      const body = { worker_id: deps.worker_id, leases: [lease] };
      const { released } = await deps.client.releaseTasks({ body });
      return released.length > 0 ? "ok" : "lost";
    });

  const fail = (error: TaskError) =>
    settleOnce(() => deps.reports.add({ lease, status: "failed", error }));

  const delivery: Delivery = {
    id: task.task_id,
    queue: task.queue,
    body: JSON.stringify(task),
    headers: { [timeoutHeader]: task.timeout_seconds, [leaseHeader]: lease },
    deliveryCount: task.delivery_count,
    get signal() {
      if (controller === undefined) {
        controller = new AbortController();
        if (aborted !== undefined) controller.abort(aborted);
      }
      return controller.signal;
    },
    onAbort: (listener) => {
      listeners.add(listener);
      if (aborted !== undefined) listener(aborted);
      return () => listeners.delete(listener);
    },
    complete: release,
    report: ({ status, output, error }) =>
      settleOnce(() =>
        deps.reports.add(
          status === "completed"
            ? { lease, status, output: JSON.parse(output ?? "{}") as JsonObject }
            : { lease, status, error: JSON.parse(error ?? "{}") as TaskError },
        ),
      ),
    retry: release,
    deadLetter: (reason, detail) =>
      fail({ code: reason, message: detail ?? reason, category: "permanent" }),
    renew: async () => (settled ? "lost" : "ok"),
    release,
    progress: (percent, message) => {
      deps.renewal.progress(lease, percent, message);
    },
  };
  return {
    delivery,
    lease,
    isSettled: () => settled,
    abort: (cause) => {
      if (aborted !== undefined) return;
      aborted = new DeliveryAborted(cause);
      controller?.abort(aborted);
      for (const listener of listeners) listener(aborted);
    },
  };
}
