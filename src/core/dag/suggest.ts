/** Candidates beyond this are not compared: a typo in a huge workflow must not cost seconds. */
const mostCandidates = 2000;

/** Returns `; did you mean "x"?`, ready to be appended to a message, or an empty string. */
export function didYouMean(name: string, candidates: Iterable<string>): string {
  const best = suggest(name, candidates);
  return best === undefined ? "" : `; did you mean "${best}"?`;
}

export function suggest(name: string, candidates: Iterable<string>): string | undefined {
  if (name.length > 64) return undefined;
  const wanted = name.toLowerCase();
  const furthest = Math.max(1, Math.floor(name.length / 3));
  let best: string | undefined;
  let bestDistance = furthest + 1;
  let seen = 0;
  for (const candidate of candidates) {
    if (++seen > mostCandidates) break;
    if (Math.abs(candidate.length - name.length) > furthest) continue;
    const distance = editDistance(wanted, candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Counts insertions, deletions, replacements, and swaps of neighbours. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let cost = Math.min(
        at(last, column) + 1,
        at(current, column - 1) + 1,
        at(last, column - 1) + (same ? 0 : 1),
      );
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        cost = Math.min(cost, at(beforeLast, column - 2) + 1);
      }
      current.push(cost);
    }
    beforeLast = last;
    last = current;
  }
  return at(last, b.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Infinity;
}
