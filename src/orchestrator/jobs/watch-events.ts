import type { Queryable } from "../../adapters/postgres/queryable.ts";
import { setWatching } from "../../adapters/postgres/repositories/ownership.ts";
import { eventsChannel } from "../../adapters/postgres/channels.ts";
import type { Listen } from "../../adapters/postgres/share-listener.ts";
import type { Logger } from "../../adapters/runtime/logger.ts";
import { createService } from "../../adapters/runtime/service.ts";

export interface EventWatch {
  /** Calls `wake` when events were committed, as soon as all writers notify. */
  listen(wake: () => void): { close(): Promise<void> };
  stop(): Promise<void>;
}

interface Watcher {
  readonly wake: () => void;
  listener?: { close(): Promise<void> };
  timer?: NodeJS.Timeout;
}

/** By then transactions that began before the row said "watching" have ended: one more read sees them. */
const readAgainMs = 300;
/** The row is written again at this interval: another orchestrator may have deleted it as dead. */
const writeAgainMs = 5000;

/**
 * Writers notify of events only while some orchestrator watches, because commits that notify wait for
 * each other. This service writes into the orchestrator's row whether it has watchers.
 */
export function createEventWatch(
  db: Queryable,
  ownerId: string,
  listen: Listen,
  log: Logger,
): EventWatch {
  const watchers = new Set<Watcher>();
  let isWritten = false;
  const service = createService({
    name: "watch events",
    log,
    intervalMs: writeAgainMs,
    async runOnce() {
      const watching = watchers.size > 0;
      if (!watching && !isWritten) return;
      await setWatching(db, ownerId, watching);
      isWritten = watching;
      for (const watcher of watchers) {
        if (watcher.listener !== undefined) continue;
        watcher.listener = listen([eventsChannel], watcher.wake);
        watcher.timer = setTimeout(watcher.wake, readAgainMs);
      }
    },
  });
  service.start();
  return {
    listen(wake) {
      const watcher: Watcher = { wake };
      watchers.add(watcher);
      service.wake();
      return {
        close: async () => {
          watchers.delete(watcher);
          clearTimeout(watcher.timer);
          await watcher.listener?.close();
          service.wake();
        },
      };
    },
    stop: () => service.stop(),
  };
}
