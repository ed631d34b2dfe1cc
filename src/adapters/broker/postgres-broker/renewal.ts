import { Worker } from "node:worker_threads";
import type { Logger } from "../../runtime/logger.ts";
import type { LeaseToken } from "../broker.ts";
import { leaseKey } from "./renewal-protocol.ts";
import type { FromThread, HeldLease, ThreadOptions, ToThread } from "./renewal-protocol.ts";

export type RenewalEnd = Extract<FromThread, { kind: "ended" }>["cause"];

/** The main thread's side of the thread that renews. */
export interface Renewal {
  /** Must be called before the handlers start: one that never yields could not call it later. */
  hold(leases: readonly (HeldLease & { onEnd(cause: RenewalEnd): void })[]): void;
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
const dropEveryMs = 100;

export function startRenewal(options: ThreadOptions, log: Logger): Renewal {
  const held = new Map<string, HeldLease & { onEnd(cause: RenewalEnd): void }>();
  let dropped: LeaseToken[] = [];
  let stopping = false;
  let restartTimer: NodeJS.Timeout | undefined;
  let dropTimer: NodeJS.Timeout | undefined;
  let thread = start();

  function start(): Worker {
    // Without the process's own flags: some, such as --input-type, are not for a file.
    const worker = new Worker(threadFile, { workerData: options, execArgv: [] });
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
    post({ kind: "hold", leases: [...held.values()].map(withoutCallback) });
  }

  function tellDropped(): void {
    dropTimer = undefined;
    post({ kind: "drop", leases: dropped });
    dropped = [];
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
      for (const lease of leases) held.set(leaseKey(lease), lease);
      post({ kind: "hold", leases: leases.map(withoutCallback) });
    },
    drop(lease) {
      held.delete(leaseKey(lease));
      dropped.push({ message_id: lease.message_id, deliveries: lease.deliveries });
      // Told together and later: the thread may renew one in vain, and nobody hears of it.
      dropTimer ??= setTimeout(tellDropped, dropEveryMs);
    },
    renewNow() {
      if (held.size > 0) post({ kind: "renew_now" });
    },
    async stop() {
      if (stopping) return;
      stopping = true;
      clearTimeout(restartTimer);
      clearTimeout(dropTimer);
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

function withoutCallback({ message_id, deliveries, lease_ms, hold_ms }: HeldLease): HeldLease {
  return { message_id, deliveries, lease_ms, hold_ms };
}
