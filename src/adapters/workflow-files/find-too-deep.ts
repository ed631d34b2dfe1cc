import type { CST } from "yaml";

/** Generous against the tree's own limit: brackets and pairs count here that are no level there. */
const deepestSyntax = 500;

/** Offset of the first collection that is nested too deeply for a recursive reader. */
export function findTooDeep(tokens: readonly CST.Token[]): number | undefined {
  const open: { token: CST.Token; depth: number }[] = [];
  for (const token of tokens) {
    if (token.type === "document" && token.value !== undefined) {
      open.push({ token: token.value, depth: 0 });
    }
  }
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { token, depth } = next;
    if (!("items" in token)) continue;
    if (depth > deepestSyntax) return token.offset;
    for (const { key, value } of token.items) {
      if (key != null) open.push({ token: key, depth: depth + 1 });
      if (value != null) open.push({ token: value, depth: depth + 1 });
    }
  }
  return undefined;
}
