/** Ids of the nodes that the author left out. No written name can clash: it never starts with @. */
export const implicitStart = "@start";
export const implicitEnd = "@end";

/** `next: END` and `depends_on: START` mean the implicit nodes, in any case of letters. */
export function implicitNode(name: string, side: "next" | "depends_on"): string | undefined {
  const lower = name.toLowerCase();
  if (side === "next" && lower === "end") return implicitEnd;
  if (side === "depends_on" && lower === "start") return implicitStart;
  return undefined;
}
