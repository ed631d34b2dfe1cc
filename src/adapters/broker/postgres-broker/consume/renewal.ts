import { Worker } from "node:worker_threads";
import type { Logger } from "../../../runtime/logger.ts";
import type { LeaseToken } from "../sql/message-columns.ts";
import { LeaseTable, sharedNow } from "./lease-table.ts";
import { leaseKey } from "./renewal-protocol.ts";
import type {
  FromThread,
  HeldLease,
  ThreadData,
  ThreadOptions,
  ToThread,
} from "./renewal-protocol.ts";

export type RenewalEnd = Extract<FromThread, { kind: "ended" }>["cause"];

/** The main thread's side of the thread that renews. */
export interface Renewal {
  /** Must be called before the handlers start: one that never yields could not call it later. */
  hold(leases: readonly (HeldLease & { readonly onEnd: (cause: RenewalEnd) => void })[]): void;
  drop(lease: LeaseToken): void;
  renewNow(): void;
  stop(): Promise<void>;
}

/**
 * A thread is a file of JavaScript. When this file runs as the TypeScript it is written in, its
 * compiled sibling is used.
 */
const threadFile = new URL(
  import.meta.url
    .replace(/\/src\/(.*)renewal\.ts$/, "/dist/$1renewal.js")
    .replace(/renewal\.js$/, "renewal-thread.js"),
);

const restartPauseMs = 500;
const rowsOfTable = 2048;

interface Place {
  readonly table: LeaseTable;
  readonly row: number;
  readonly onEnd: (cause: RenewalEnd) => void;
}

export function startRenewal(options: ThreadOptions, log: Logger): Renewal {
  const held = new Map<string, Place>();
  const tables = [new LeaseTable(rowsOfTable)];
  let shortestMs: number | undefined;
  let stopping = false;
  let restartTimer: NodeJS.Timeout | undefined;
  let thread = start();

  function start(): Worker {
    // Without the process's own flags: some, such as --input-type, are not for a file.
    const workerData: ThreadData = {
      ...options,
      tables: tables.map(({ buffer }) => buffer),
      lease_ms: shortestMs,
    };
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

  function place(lease: HeldLease): Omit<Place, "onEnd"> {
    const since = sharedNow();
    for (const table of tables) {
      const row = table.hold(lease, since);
      if (row !== undefined) return { table, row };
    }
    const table = new LeaseTable(rowsOfTable);
    tables.push(table);
    post({ kind: "table", buffer: table.buffer });
    const row = table.hold(lease, since);
    if (row === undefined) throw new Error("a new table has room");
    return { table, row };
  }

  function post(message: ToThread): void {
    thread.postMessage(message);
  }

  function receive(message: FromThread): void {
    if (message.kind === "trouble") {
      log.warn({ reason: message.message }, "leases could not be renewed; trying again");
      return;
    }
    held.get(leaseKey(message.lease))?.onEnd(message.cause);
  }

  return {
    hold(leases) {
      for (const { onEnd, ...lease } of leases) {
        held.set(leaseKey(lease), { ...place(lease), onEnd });
        if (lease.lease_ms >= (shortestMs ?? Infinity)) continue;
        shortestMs = lease.lease_ms;
        post({ kind: "lease_ms", lease_ms: shortestMs });
      }
    },
    drop(lease) {
      const known = held.get(leaseKey(lease));
      if (known === undefined) return;
      held.delete(leaseKey(lease));
      known.table.drop(known.row);
    },
    renewNow() {
      if (held.size > 0) post({ kind: "renew_now" });
    },
    async stop() {
      if (stopping) return;
      stopping = true;
      clearTimeout(restartTimer);
      // It has ended already, and waits to be started again.
      if (thread.threadId === -1) return;
      const exited = new Promise((resolve) => thread.once("exit", resolve));
      post({ kind: "stop" });
      // It may be waiting for an answer of a database that is gone.
      const timer = setTimeout(() => void thread.terminate(), 1000);
      await exited;
      clearTimeout(timer);
    },
  };
}
