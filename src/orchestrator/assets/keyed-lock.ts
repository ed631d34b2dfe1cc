/** Runs what is given under one key one after the other. */
export type KeyedLock = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/**
 * Two hundred submissions of one asset would each hold a connection while they wait for one row.
 * In one process they can as well wait here; between processes the row lock still decides.
 */
export function createKeyedLock(): KeyedLock {
  const last = new Map<string, Promise<unknown>>();
  return async (key, work) => {
    const before = last.get(key) ?? Promise.resolve();
    const mine = before.then(work, work);
    last.set(key, mine);
    try {
      return await mine;
    } finally {
      if (last.get(key) === mine) last.delete(key);
    }
  };
}
