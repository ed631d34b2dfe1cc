/** A Map, or an LRU cache that bounds its size. */
export interface PromiseCache<Value> {
  get(key: string): Promise<Value> | undefined;
  set(key: string, value: Promise<Value>, options?: { readonly size: number }): unknown;
  delete(key: string): unknown;
}

/**
 * Answers from the cache or with the promise that `make` begins. A promise that rejects leaves the
 * cache, so that the next call tries again.
 */
export function cached<Value>(
  cache: PromiseCache<Value>,
  key: string,
  make: () => Promise<Value>,
  options?: { readonly size: number },
): Promise<Value> {
  const known = cache.get(key);
  if (known !== undefined) return known;
  const made = make();
  cache.set(key, made, options);
  made.catch(() => cache.delete(key));
  return made;
}
