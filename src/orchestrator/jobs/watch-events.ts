import type { Queryable } from "../../adapters/postgres/queryable.ts";
import { setWatching } from "../../adapters/postgres/repositories/ownership.ts";
import { eventsChannel } from "../../adapters/postgres/channels.ts";
import type { Listen } from "../../adapters/postgres/share-listener.ts";
import type { Logger } from "../../adapters/runtime/logger.ts";
import { createService } from "../../adapters/runtime/service.ts";

export interface EventWatch {
  /** Calls back when events were committed, from when that is known to everybody on. */
  listen(wake: () => void): { close(): Promise<void> };
  stop(): Promise<void>;
}

interface Watcher {
  readonly wake: () => void;
  listening?: { close(): Promise<void> };
  timer?: NodeJS.Timeout;
}

/** A transaction that looked before it was known that somebody watches has ended by then. */
const lookAgainMs = 300;
/** The row is made anew when its orchestrator was long thought dead. */
const sayAgainMs = 5000;

/** Events are notified while somebody watches, and this is how that is known. */
export function createEventWatch(
  db: Queryable,
  ownerId: string,
  listen: Listen,
  log: Logger,
): EventWatch {
  const watchers = new Set<Watcher>();
  let isSaid = false;
  const saying = createService({
    name: "watch events",
    log,
    intervalMs: sayAgainMs,
    async runOnce() {
      const watches = watchers.size > 0;
      if (!watches && !isSaid) return;
      await setWatching(db, ownerId, watches);
      isSaid = watches;
      for (const watcher of watchers) {
        if (watcher.listening !== undefined) continue;
        watcher.listening = listen([eventsChannel], watcher.wake);
        watcher.timer = setTimeout(watcher.wake, lookAgainMs);
      }
    },
  });
  saying.start();
  return {
    listen(wake) {
      const watcher: Watcher = { wake };
      watchers.add(watcher);
      saying.wake();
      return {
        close: async () => {
          watchers.delete(watcher);
          clearTimeout(watcher.timer);
          await watcher.listening?.close();
          saying.wake();
        },
      };
    },
    stop: () => saying.stop(),
  };
}
