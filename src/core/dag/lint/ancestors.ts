import type { Adjacency } from "../source/order.ts";

export interface AncestorQuestion {
  readonly ancestor: number;
  readonly node: number;
}

/**
 * Answers all questions in one call. A walk for each question is quadratic when every node of a
 * long chain refers far back, and a set of ancestors for each node needs as much memory. So each
 * sweep through the order carries one bit for each of 32 ancestors, from the first of them to the
 * last node that asks about one. 50,000 nodes that each ask about another take about 80 million
 * steps at worst.
 *
 * Nodes that are not in the order are on a cycle or behind one. Their answer is true, because the
 * cycle is reported already.
 */
export function isAncestor(
  incoming: Adjacency,
  order: readonly number[],
  questions: readonly AncestorQuestion[],
): boolean[] {
  const position = new Int32Array(incoming.length).fill(-1);
  for (const [place, node] of order.entries()) position[node] = place;
  const placeOf = (node: number): number => position[node] ?? -1;

  const answers = questions.map(
    ({ ancestor, node }) => ancestor !== node && (placeOf(ancestor) < 0 || placeOf(node) < 0),
  );
  const byAncestor = new Map<number, number[]>();
  for (const [index, { ancestor, node }] of questions.entries()) {
    if (ancestor === node || answers[index] === true) continue;
    if (placeOf(ancestor) > placeOf(node)) continue;
    const asking = byAncestor.get(ancestor);
    if (asking === undefined) byAncestor.set(ancestor, [index]);
    else asking.push(index);
  }

  const ancestors = [...byAncestor.keys()].sort((a, b) => placeOf(a) - placeOf(b));
  const bits = new Int32Array(incoming.length);
  const own = new Int32Array(incoming.length);
  for (let start = 0; start < ancestors.length; start += 32) {
    const batch = ancestors.slice(start, start + 32);
    const asked = batch.map((ancestor) => byAncestor.get(ancestor) ?? []);
    const first = placeOf(batch[0] ?? 0);
    let last = first;
    for (const index of asked.flat()) last = Math.max(last, placeOf(questions[index]?.node ?? 0));
    for (const [bit, ancestor] of batch.entries()) own[ancestor] = 1 << bit;
    for (let place = first; place <= last; place++) {
      const node = order[place] ?? 0;
      let carried = 0;
      for (const from of incoming[node] ?? []) {
        // Nodes before the window still hold the bits of an earlier batch.
        if (placeOf(from) >= first) carried |= bits[from] ?? 0;
      }
      bits[node] = carried | (own[node] ?? 0);
    }
    for (const ancestor of batch) own[ancestor] = 0;
    for (const [bit, indexes] of asked.entries()) {
      for (const index of indexes) {
        answers[index] = ((bits[questions[index]?.node ?? 0] ?? 0) & (1 << bit)) !== 0;
      }
    }
  }
  return answers;
}
