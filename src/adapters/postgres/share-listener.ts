/**
 * One LISTEN connection for all parts of a process.
 *
 * At every commit that notifies, PostgreSQL wakes the backend of every listener of the database,
 * whatever its channels are, and that wakes its process if a channel is one of its own. With a
 * connection for each part, an orchestrator made four backends run three times for a job of one task,
 * while the worker that the message was for waited for its turn. For the same reason a part listens
 * only while it has somebody to tell.
 */
import { listen } from "./listen.ts";
import type { ListenOptions, Wake } from "./listen.ts";

/** Like `listen`: the first thing heard is `missed`, as soon as there is a connection. */
export type Hear = (
  channels: readonly string[],
  onWake: (wake: Wake) => void,
) => { close(): Promise<void> };

export interface SharedListener {
  readonly hear: Hear;
  close(): Promise<void>;
}

export function shareListener(url: string, options: ListenOptions = {}): SharedListener {
  const hearers = new Set<(wake: Wake) => void>();
  const heardBy = new Map<string, number>();
  let isListening = false;
  const listener = listen(
    url,
    [],
    (wake) => {
      isListening = true;
      for (const tell of [...hearers]) tell(wake);
    },
    options,
  );

  /** Answers which channels nobody heard before, or nobody hears any more. */
  function count(channels: readonly string[], by: 1 | -1): readonly string[] {
    return channels.filter((channel) => {
      const before = heardBy.get(channel) ?? 0;
      heardBy.set(channel, before + by);
      return Math.min(before, before + by) === 0;
    });
  }

  return {
    hear(channels, onWake) {
      const tell = (wake: Wake): void => {
        if (wake.kind === "missed" || channels.includes(wake.channel)) onWake(wake);
      };
      hearers.add(tell);
      const added = listener.add(count(channels, 1));
      // It came late: the connection's own word that it listens is over.
      if (isListening) {
        void added.then(() => {
          if (hearers.has(tell)) onWake({ kind: "missed" });
        });
      }
      return {
        close: async () => {
          if (hearers.delete(tell)) await listener.remove(count(channels, -1));
        },
      };
    },
    close: () => listener.close(),
  };
}
