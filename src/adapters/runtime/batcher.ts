/**
 * Collects single calls into batches, so that one statement serves many of them.
 *
 * There is no timer: a batch is flushed at the end of the event loop's turn in which its first item
 * was added, and items that come during a flush form the next batch. So an idle process adds no
 * delay, and batches grow with the load and with the time of a flush.
 */
export interface Batcher<Item, Result> {
  add(item: Item): Promise<Result>;
  /** Resolves when no item waits and no flush runs. */
  idle(): Promise<void>;
}

export interface BatcherOptions<Item, Result> {
  readonly maxItems: number;
  /** Answers one result for each item, in order. If it rejects, every item of the batch rejects. */
  readonly flush: (items: readonly Item[]) => Promise<readonly Result[]>;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

export function createBatcher<Item, Result>(
  options: BatcherOptions<Item, Result>,
): Batcher<Item, Result> {
  const waiting: Waiting<Item, Result>[] = [];
  let running: Promise<void> | undefined;

  async function flushAll(): Promise<void> {
    // At the end of this turn, everything that finishes in it is in the batch.
    await new Promise((resolve) => setImmediate(resolve));
    while (waiting.length > 0) await flushOne(waiting.splice(0, options.maxItems));
    running = undefined;
  }

  async function flushOne(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await options.flush(batch.map(({ item }) => item));
      if (results.length !== batch.length) {
        throw new Error(`A batch of ${batch.length} got ${results.length} answers.`);
      }
      batch.forEach(({ resolve }, index) => {
        resolve(results[index] as Result);
      });
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  return {
    add: (item) =>
      new Promise((resolve, reject) => {
        waiting.push({ item, resolve, reject });
        running ??= flushAll();
      }),
    idle: async () => {
      while (running !== undefined) await running;
    },
  };
}
