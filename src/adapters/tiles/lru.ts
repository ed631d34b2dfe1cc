/** Keeps what was used last, up to a weight. */
export interface Lru<Value> {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
  delete(key: string): void;
  readonly weight: number;
}

export function createLru<Value>(most: number, weigh: (value: Value) => number): Lru<Value> {
  // A Map keeps the order of insertion, so the first key is the one unused for longest.
  const kept = new Map<string, Value>();
  let weight = 0;
  function remove(key: string): void {
    const value = kept.get(key);
    if (value === undefined) return;
    kept.delete(key);
    weight -= weigh(value);
  }
  return {
    get(key) {
      const value = kept.get(key);
      if (value !== undefined) {
        kept.delete(key);
        kept.set(key, value);
      }
      return value;
    },
    set(key, value) {
      remove(key);
      const added = weigh(value);
      if (added > most) return;
      kept.set(key, value);
      weight += added;
      for (const oldest of kept.keys()) {
        if (weight <= most) break;
        remove(oldest);
      }
    },
    delete: remove,
    get weight() {
      return weight;
    },
  };
}
