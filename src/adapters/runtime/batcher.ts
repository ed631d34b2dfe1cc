/**
 * Gathers what is asked for one by one into statements for many.
 *
 * No timer: a batch leaves at the end of the turn in which the first item came, and while it is
 * under way the next one grows. So an idle process waits for nothing, and a busy one batches by
 * itself, the more so the slower the other side is.
 */
export interface Batcher<Item, Result> {
  add(item: Item): Promise<Result>;
  /** Resolves when nothing waits and nothing is under way. */
  idle(): Promise<void>;
}

export interface BatcherOptions<Item, Result> {
  readonly maxItems: number;
  /** Answers for each item, in order. When it rejects, every item of the batch rejects. */
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
    // The end of this turn: everything that finishes together is in the batch.
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
