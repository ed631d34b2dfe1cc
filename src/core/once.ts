/**
 * Returns a function that makes a value at its first call and returns the same value afterwards.
 */
export function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}
