/**
 * One LISTEN connection for all parts of a process.
 *
 * At every commit that notifies, PostgreSQL wakes the backend of every listener of the database,
 * whatever its channels are, and that backend wakes its process if a channel is one of its own. With
 * a connection for each part, an orchestrator made four backends run three times for a job of one
 * task, while the worker that the message was for waited for a core. For the same reason a part
 * should listen only while it uses the notifications.
 */
import { listen } from "./listen.ts";
import type { ListenOptions, Wake } from "./listen.ts";

/** Calls `onWake` with `missed` as soon as there is a connection, then for every notification. */
export type Listen = (
  channels: readonly string[],
  onWake: (wake: Wake) => void,
) => { close(): Promise<void> };

export interface SharedListener {
  readonly listen: Listen;
  close(): Promise<void>;
}

export function shareListener(url: string, options: ListenOptions = {}): SharedListener {
  const parts = new Set<(wake: Wake) => void>();
  const partsOf = new Map<string, number>();
  let isListening = false;
  const listener = listen(
    url,
    [],
    (wake) => {
      isListening = true;
      for (const onWake of [...parts]) onWake(wake);
    },
    options,
  );

  /** Counts the parts of each channel; answers the channels that got their first or lost their last. */
  function count(channels: readonly string[], by: 1 | -1): readonly string[] {
    return channels.filter((channel) => {
      const before = partsOf.get(channel) ?? 0;
      partsOf.set(channel, before + by);
      return Math.min(before, before + by) === 0;
    });
  }

  return {
    listen(channels, onWake) {
      const part = (wake: Wake): void => {
        if (wake.kind === "missed" || channels.includes(wake.channel)) onWake(wake);
      };
      parts.add(part);
      const added = listener.add(count(channels, 1));
      // A part that subscribes after the connect has to be called with `missed` too.
      if (isListening) {
        void added.then(() => {
          if (parts.has(part)) onWake({ kind: "missed" });
        });
      }
      return {
        close: async () => {
          if (parts.delete(part)) await listener.remove(count(channels, -1));
        },
      };
    },
    close: () => listener.close(),
  };
}
