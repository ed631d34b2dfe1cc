/** Neighbours by index; the index of a node is its place in the file. */
export type Adjacency = readonly (readonly number[])[];

/**
 * Kahn's algorithm, first in, first out, so that equal graphs give equal orders. Nodes on a cycle,
 * and nodes behind one, are left out.
 */
export function topologicalOrder(outgoing: Adjacency): number[] {
  const waiting = new Int32Array(outgoing.length);
  for (const targets of outgoing) for (const to of targets) waiting[to] = (waiting[to] ?? 0) + 1;
  const order: number[] = [];
  for (const [node, count] of waiting.entries()) if (count === 0) order.push(node);
  // The list grows while it is walked: it is the queue.
  for (const node of order) {
    for (const to of outgoing[node] ?? []) {
      const left = (waiting[to] ?? 0) - 1;
      waiting[to] = left;
      if (left === 0) order.push(to);
    }
  }
  return order;
}

/** Cycles that share no node with each other, each from its first node in the file. */
export function findCycles(outgoing: Adjacency): number[][] {
  const unseen = 0;
  const onPath = 1;
  const done = 2;
  const state = new Uint8Array(outgoing.length);
  const reported = new Uint8Array(outgoing.length);
  const cycles: number[][] = [];
  for (let root = 0; root < outgoing.length; root++) {
    if (state[root] !== unseen) continue;
    const path = [root];
    const nextEdge = [0];
    state[root] = onPath;
    while (path.length > 0) {
      const top = path.length - 1;
      const node = path[top] ?? 0;
      const edge = nextEdge[top] ?? 0;
      const to = outgoing[node]?.[edge];
      if (to === undefined) {
        state[node] = done;
        path.pop();
        nextEdge.pop();
        continue;
      }
      nextEdge[top] = edge + 1;
      if (state[to] === unseen) {
        state[to] = onPath;
        path.push(to);
        nextEdge.push(0);
      } else if (state[to] === onPath && reported[to] === 0 && reported[node] === 0) {
        const cycle = path.slice(path.lastIndexOf(to));
        if (!cycle.some((each) => reported[each] === 1)) cycles.push(cycle);
        for (const each of cycle) reported[each] = 1;
      }
    }
  }
  return cycles;
}

/** Marks every node that can be reached from the roots, including the roots. */
export function reachable(outgoing: Adjacency, roots: readonly number[]): Uint8Array {
  const seen = new Uint8Array(outgoing.length);
  const open = [...roots];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (seen[node] === 1) continue;
    seen[node] = 1;
    for (const to of outgoing[node] ?? []) if (seen[to] === 0) open.push(to);
  }
  return seen;
}
