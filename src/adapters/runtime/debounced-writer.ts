import type { Logger } from "./logger.ts";

/** Gathers items for a moment and writes them together; the caller waits for none of it. */
export interface DebouncedWriter<Item> {
  add(key: string, item: Item): void;
  close(): Promise<void>;
}

export interface DebouncedWriterOptions<Item> {
  readonly what: string;
  readonly delayMs: number;
  /** Items beyond this number are dropped. */
  readonly maxWaiting: number;
  readonly write: (items: readonly Item[]) => Promise<void>;
  readonly log: Logger;
}

/** Of items with the same key only the newest is written. */
export function createDebouncedWriter<Item>(
  options: DebouncedWriterOptions<Item>,
): DebouncedWriter<Item> {
  const { what, delayMs, maxWaiting, write, log } = options;
  let waiting = new Map<string, Item>();
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    const items = [...waiting.values()];
    waiting = new Map();
    if (items.length === 0) return;
    // One after the other, so that an older value never overwrites a newer one.
    writing = writing
      .then(() => write(items))
      .catch((err: unknown) => {
        log.warn({ err, lost: items.length }, `${what} could not be written`);
      });
  }

  return {
    add(key, item) {
      if (waiting.size >= maxWaiting && !waiting.has(key)) return;
      waiting.set(key, item);
      timer ??= setTimeout(flush, delayMs);
    },
    async close() {
      flush();
      await writing;
    },
  };
}
