import { Worker } from "node:worker_threads";
import type { Logger } from "../../../runtime/logger.ts";
import type { LeaseToken } from "../sql/message-columns.ts";
import { LeaseTable, sharedNow } from "./lease-table.ts";
import type { FromThread, ThreadData, ThreadOptions, ToThread } from "./renewal-protocol.ts";

export type RenewalEnd = Extract<FromThread, { kind: "ended" }>["cause"];

/** A delivery whose lease is renewed. It is aborted when the lease is lost, cancelled or held too long. */
export interface RenewedDelivery {
  readonly lease: LeaseToken;
  /** How long the lease is renewed. */
  readonly holdMs: number;
  abort(cause: RenewalEnd): void;
}

/** The main thread's side of the renewing thread. */
export interface Renewal {
  /** Must be called before the handlers start: a handler that never yields blocks later calls. */
  hold(deliveries: readonly RenewedDelivery[], leaseMs: number): void;
  drop(delivery: RenewedDelivery): void;
  renewNow(): void;
  stop(): Promise<void>;
}

/**
 * Node runs a thread from a JavaScript file. When this file runs as TypeScript, the thread runs the
 * compiled file in dist/.
 */
const threadFile = new URL(
  import.meta.url
    .replace(/\/src\/(.*)renewal\.ts$/, "/dist/$1renewal.js")
    .replace(/renewal\.js$/, "renewal-thread.js"),
);

const restartPauseMs = 500;
const leasesPerTable = 2048;

export function startRenewal(options: ThreadOptions, log: Logger): Renewal {
  /** The row of each lease, counted through all tables. */
  const held = new Map<RenewedDelivery, number>();
  const tables = [new LeaseTable(leasesPerTable)];
  let shortestMs: number | undefined;
  let stopping = false;
  let restartTimer: NodeJS.Timeout | undefined;
  let thread = start();

  function start(): Worker {
    const workerData: ThreadData = {
      ...options,
      tables: tables.map(({ buffer }) => buffer),
      lease_ms: shortestMs,
    };
    // Without the flags of the process: some, such as --input-type, are refused with a file.
    const worker = new Worker(threadFile, { workerData, execArgv: [] });
    worker.on("message", receive);
    worker.on("error", (error) => {
      log.error({ err: error }, "the thread that renews leases failed");
    });
    worker.once("exit", () => {
      if (!stopping) restartTimer = setTimeout(restart, restartPauseMs);
    });
    return worker;
  }

  function restart(): void {
    thread = start();
  }

  function place({ lease, holdMs }: RenewedDelivery, leaseMs: number, since: number): number {
    for (let index = 0; ; index++) {
      const row = (tables[index] ?? addTable()).hold(lease, leaseMs, holdMs, since);
      if (row !== undefined) return index * leasesPerTable + row;
    }
  }

  function addTable(): LeaseTable {
    const table = new LeaseTable(leasesPerTable);
    tables.push(table);
    post({ kind: "table", buffer: table.buffer });
    return table;
  }

  function post(message: ToThread): void {
    thread.postMessage(message);
  }

  function receive(message: FromThread): void {
    if (message.kind === "failed") {
      log.warn({ reason: message.message }, "leases could not be renewed; trying again");
      return;
    }
    const { message_id, deliveries } = message.lease;
    for (const delivery of held.keys()) {
      const { lease } = delivery;
      if (lease.message_id !== message_id || lease.deliveries !== deliveries) continue;
      delivery.abort(message.cause);
      return;
    }
  }

  return {
    hold(deliveries, leaseMs) {
      const since = sharedNow();
      for (const delivery of deliveries) held.set(delivery, place(delivery, leaseMs, since));
      if (leaseMs >= (shortestMs ?? Infinity)) return;
      shortestMs = leaseMs;
      post({ kind: "lease_ms", lease_ms: shortestMs });
    },
    drop(delivery) {
      const row = held.get(delivery);
      if (row === undefined) return;
      held.delete(delivery);
      tables[Math.floor(row / leasesPerTable)]?.drop(row % leasesPerTable);
    },
    renewNow() {
      if (held.size > 0) post({ kind: "renew_now" });
    },
    async stop() {
      if (stopping) return;
      stopping = true;
      clearTimeout(restartTimer);
      // The thread has exited already; the cleared timer would have started it again.
      if (thread.threadId === -1) return;
      const exited = new Promise((resolve) => thread.once("exit", resolve));
      post({ kind: "stop" });
      // The thread may wait for an answer of a database that is gone.
      const timer = setTimeout(() => void thread.terminate(), 1000);
      await exited;
      clearTimeout(timer);
    },
  };
}
