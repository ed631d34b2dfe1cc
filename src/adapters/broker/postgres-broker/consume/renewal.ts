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

export interface EndingLease extends HeldLease {
  readonly onEnd: (cause: RenewalEnd) => void;
}

/** The main thread's side of the renewing thread. */
export interface Renewal {
  /** Must be called before the handlers start: a handler that never yields blocks later calls. */
  hold(leases: readonly EndingLease[]): void;
  drop(lease: LeaseToken): void;
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

interface LeasePlace {
  readonly table: LeaseTable;
  readonly row: number;
  readonly onEnd: (cause: RenewalEnd) => void;
}

export function startRenewal(options: ThreadOptions, log: Logger): Renewal {
  const held = new Map<string, LeasePlace>();
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

  function place(lease: EndingLease): LeasePlace {
    const { onEnd } = lease;
    const since = sharedNow();
    for (const table of tables) {
      const row = table.hold(lease, since);
      if (row !== undefined) return { table, row, onEnd };
    }
    const table = new LeaseTable(leasesPerTable);
    tables.push(table);
    post({ kind: "table", buffer: table.buffer });
    const row = table.hold(lease, since);
    if (row === undefined) throw new Error("A new lease table has no free row.");
    return { table, row, onEnd };
  }

  function post(message: ToThread): void {
    thread.postMessage(message);
  }

  function receive(message: FromThread): void {
    if (message.kind === "failed") {
      log.warn({ reason: message.message }, "leases could not be renewed; trying again");
      return;
    }
    held.get(leaseKey(message.lease))?.onEnd(message.cause);
  }

  return {
    hold(leases) {
      for (const lease of leases) {
        held.set(leaseKey(lease), place(lease));
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
