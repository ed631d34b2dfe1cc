/** What is run, by whom, how large. A peer's own sizes stand in peers.js, with their reasons. */
export const workloads = {
  W1: {
    title: "one task when idle, submit to completed",
    unit: "ms",
    sizes: [200],
    quick: [50],
  },
  W2: {
    title: "one chain of 50 tasks",
    unit: "ms/hop",
    sizes: [50],
    quick: [50],
    repeat: () => 3,
  },
  W3: {
    title: "fan-out and fan-in",
    unit: "tasks/s",
    sizes: [1000, 10_000],
    quick: [1000],
    repeat: (size) => (size <= 1000 ? 3 : 1),
  },
  W4: {
    title: "diamonds of 5 tasks",
    unit: "tasks/s",
    sizes: [1000],
    quick: [200],
  },
  W5: {
    title: "a backlog, drained",
    unit: "tasks/s",
    sizes: [100_000],
    quick: [10_000],
    fill: true,
  },
};

/** Ours alone: does a task cost the same when there is much more of everything? */
export const growth = {
  fanOut: {
    title: "one fan-out of so many tasks",
    points: (quick) =>
      (quick ? [1000, 5000] : [1000, 10_000, 100_000]).map((size) => ({
        workload: "W3",
        size,
        repeat: size <= 1000 ? 5 : 1,
      })),
  },
  active: {
    title: "diamonds, so many jobs active at once",
    points: (quick) =>
      (quick ? [100, 500] : [100, 1000, 10_000]).map((size) => ({
        workload: "W4active",
        size,
        repeat: Math.max(1, Math.min(10, 2000 / size)),
      })),
  },
  history: {
    title: "a fan-out of 1,000 on a database with so many finished nodes",
    points: (quick) => [
      { workload: "W3", size: 1000, repeat: 5, nodes: 0 },
      { workload: "W3", size: 1000, repeat: 5, nodes: quick ? 20_000 : 1_000_000 },
    ],
  },
};

export const workloadIds = [...Object.keys(workloads), "growth"];

/** The cells of one round, all peers of a workload next to each other: they meet the same noise. */
export function cellsOf({ only, quick }, peers) {
  return Object.entries(workloads)
    .filter(([workload]) => only.includes(workload))
    .flatMap(([workload, { sizes, quick: small, repeat, fill }]) =>
      (quick ? small : sizes).flatMap((size) =>
        peers.flatMap((peer) => cellsOfPeer({ peer, workload, size, repeat, fill })),
      ),
    );
}

function cellsOfPeer({ peer, workload, size, repeat, fill }) {
  const variants = peer.workloads[workload];
  return (variants ?? []).map(({ as = workload, size: own, repeat: times, note }) => ({
    peer,
    row: `${workload}@${size}`,
    workload: as,
    size: Math.min(own ?? size, size),
    repeat: times ?? repeat?.(size) ?? 1,
    fill,
    note,
  }));
}
