/**
 * One LISTEN connection for all parts of a process.
 *
 * At every commit that notifies, PostgreSQL wakes the backend of every listener of the database,
 * whatever its channels are. With a connection for each part, an orchestrator made four of them run
 * three times for a job of one task, while the worker that the message was for waited for its turn.
 */
import { listen } from "./listen.ts";
import type { Listener, ListenOptions, Wake } from "./listen.ts";

/** Like `listen`: the first thing heard is `missed`, as soon as there is a connection. */
export type Hear = (channels: readonly string[], onWake: (wake: Wake) => void) => Listener;

export interface SharedListener {
  readonly hear: Hear;
  close(): Promise<void>;
}

/** `channels` are all that any part will want to hear: a connection subscribes once. */
export function shareListener(
  url: string,
  channels: readonly string[],
  options: ListenOptions = {},
): SharedListener {
  const hearers = new Set<(wake: Wake) => void>();
  let isListening = false;
  const listener = listen(
    url,
    channels,
    (wake) => {
      isListening = true;
      for (const tell of [...hearers]) tell(wake);
    },
    options,
  );

  return {
    hear(wanted, onWake) {
      const unknown = wanted.filter((channel) => !channels.includes(channel));
      if (unknown.length > 0) throw new Error(`nobody listens to ${unknown.join(", ")}`);
      const tell = (wake: Wake): void => {
        if (wake.kind === "missed" || wanted.includes(wake.channel)) onWake(wake);
      };
      hearers.add(tell);
      // It came late: the connection's own word that it listens is over.
      if (isListening) {
        queueMicrotask(() => {
          if (hearers.has(tell)) onWake({ kind: "missed" });
        });
      }
      return {
        close: async () => {
          hearers.delete(tell);
        },
      };
    },
    close: () => listener.close(),
  };
}
