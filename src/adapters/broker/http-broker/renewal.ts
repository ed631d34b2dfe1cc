import { Worker } from "node:worker_threads";
import type { Logger } from "../../runtime/logger.ts";

export interface HttpRenewal {
  hold(lease: string, onEnd: (cause: "cancelled" | "lost") => void): void;
  drop(lease: string): void;
  /** Sent with the next renewal, which follows soon. */
  progress(lease: string, percent: number, message: string | null): void;
  stop(): Promise<void>;
}

export interface HttpRenewalOptions {
  readonly url: string;
  readonly token: string | undefined;
  readonly workerId: string;
  readonly leaseMs: number;
}

export type ToThread =
  | { readonly kind: "hold" | "drop"; readonly lease: string }
  | {
      readonly kind: "progress";
      readonly lease: string;
      readonly percent: number;
      readonly message: string | null;
    }
  | { readonly kind: "stop" };

export type FromThread =
  | { readonly kind: "ended"; readonly lease: string; readonly cause: "cancelled" | "lost" }
  | { readonly kind: "failed"; readonly message: string };

/** As in the PostgreSQL broker: when this file runs as TypeScript, the thread runs the compiled one. */
const threadFile = new URL(
  import.meta.url
    .replace(/\/src\/(.*)renewal\.ts$/, "/dist/$1renewal.js")
    .replace(/renewal\.js$/, "renewal-thread.js"),
);

/** Renews in a thread of its own: a handler that keeps the main thread busy must not lose its task. */
export function startHttpRenewal(
  { url, token, workerId, leaseMs }: HttpRenewalOptions,
  log: Logger,
): HttpRenewal {
  const held = new Map<string, (cause: "cancelled" | "lost") => void>();
  const workerData: HttpRenewalOptions = { url, token, workerId, leaseMs };
  const thread = new Worker(threadFile, { workerData, execArgv: [] });
  const post = (message: ToThread) => {
    thread.postMessage(message);
  };
  thread.on("message", (message: FromThread) => {
    if (message.kind === "ended") held.get(message.lease)?.(message.cause);
    else log.warn({ reason: message.message }, "leases could not be renewed; trying again");
  });
  thread.on("error", (err) => {
    log.error({ err }, "the thread that renews leases failed");
  });
  return {
    hold(lease, onEnd) {
      held.set(lease, onEnd);
      post({ kind: "hold", lease });
    },
    drop(lease) {
      if (held.delete(lease)) post({ kind: "drop", lease });
    },
    progress(lease, percent, message) {
      post({ kind: "progress", lease, percent, message });
    },
    async stop() {
      post({ kind: "stop" });
      await thread.terminate();
    },
  };
}
