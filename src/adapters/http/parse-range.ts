/**
 * The one range of a `Range` header, cut to the size. Undefined: serve the whole, which RFC 9110
 * also wants for several ranges where they are not supported, and for what is no range of bytes.
 */
export function parseRange(
  header: string | undefined,
  size: number,
): { readonly offset: number; readonly length: number } | "unsatisfiable" | undefined {
  const [, from = "", to = ""] = /^bytes=(\d*)-(\d*)$/.exec(header ?? "") ?? [];
  if (from === "" && to === "") return undefined;
  const first = from === "" ? Math.max(0, size - Number(to)) : Number(from);
  const last = from === "" || to === "" ? size - 1 : Math.min(Number(to), size - 1);
  if (from !== "" && to !== "" && Number(to) < Number(from)) return undefined;
  if (first >= size || last < first) return "unsatisfiable";
  return { offset: first, length: last - first + 1 };
}
