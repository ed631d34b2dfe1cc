export interface DiffLine {
  readonly text: string;
  readonly change?: "added" | "removed";
}

/** Longer texts are shown as removed and added: the table below grows with the square of the lines. */
const maxLines = 3000;

/** The differences of two texts by their longest common subsequence of lines. */
export function diffLines(before: string, after: string): DiffLine[] {
  const a = before.split("\n");
  const b = after.split("\n");
  if (a.length > maxLines || b.length > maxLines) {
    return [
      ...a.map((text) => ({ text, change: "removed" as const })),
      ...b.map((text) => ({ text, change: "added" as const })),
    ];
  }
  const width = b.length + 1;
  const lengths = new Uint16Array((a.length + 1) * width);
  const at = (i: number, j: number) => lengths[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      lengths[i * width + j] =
        a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const lines: DiffLine[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ text: a[i] ?? "" });
      i += 1;
      j += 1;
    } else if (j >= b.length || (i < a.length && at(i + 1, j) >= at(i, j + 1))) {
      lines.push({ text: a[i] ?? "", change: "removed" });
      i += 1;
    } else {
      lines.push({ text: b[j] ?? "", change: "added" });
      j += 1;
    }
  }
  return lines;
}
