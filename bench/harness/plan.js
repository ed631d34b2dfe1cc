/** What is run, by whom, how large. A peer's own sizes stand in peers.js, with their reasons. */

/** Clients that submit at the same time where jobs are submitted one by one. */
export const clients = 32;

export const workloads = {
  W1: {
    title: "one task when idle, submit to its output in hand, p50",
    unit: "ms",
    sizes: [200],
    quick: [50],
  },
  W2: {
    title: "one chain of 50 tasks",
    unit: "ms/hop",
    sizes: [50],
    quick: [50],
    repeat: () => 10,
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
  W6: {
    title: "governed jobs of one task, through the gateway",
    unit: "tasks/s",
    sizes: [1000],
    quick: [100],
  },
  W7: {
    title: `jobs of one task, submitted one by one by ${clients} clients`,
    unit: "tasks/s",
    sizes: [5000],
    quick: [500],
  },
};

/** What also runs on the system's PostgreSQL, which is older than the one from npm: sizes, variants of ours. */
const onOlder = {
  W3: { size: 10_000, variants: ["cold", "warm"] },
  W5: { size: 100_000, variants: ["cold"] },
};
const peersOnOlder = ["pgboss"];

/**
 * Ours alone: does a task cost the same when there is much more of everything? Each series compares
 * its later points with its first one. Smaller sizes are repeated, so that each point has enough
 * tasks for a clock that ticks every 10 ms.
 */
export const growth = [
  {
    id: "fan-out",
    title: "one fan-out of n tasks",
    workload: "W3",
    sizes: [1000, 10_000, 100_000],
    quick: [1000, 5000],
  },
  {
    id: "active",
    title: "diamonds, n jobs active at once",
    workload: "W4active",
    sizes: [100, 1000, 10_000],
    quick: [100, 500],
  },
  {
    id: "history",
    title: "a fan-out of 1,000 beside n finished nodes",
    workload: "W3",
    sizes: [0, 1_000_000],
    quick: [0, 20_000],
    history: true,
  },
];

export const workloadIds = [...Object.keys(workloads), "growth"];

/** The cells of one round, all peers of a workload next to each other: they meet the same noise. */
export function cellsOf({ only, quick, older, variants }, everybody, round = 1) {
  const peers = everybody.filter(({ once = false }) => !once || round === 1);
  return Object.entries(workloads)
    .filter(([workload]) => only.includes(workload))
    .flatMap(([workload, { sizes, quick: small, ...how }]) =>
      (quick ? small : sizes).flatMap((size) =>
        peers.flatMap((peer) => cellsOfPeer({ peer, workload, size, ...how })),
      ),
    )
    .filter(({ variant }) => !variants || variant === undefined || variants.includes(variant))
    .flatMap((cell) => (older && isOnOlder(cell) ? [cell, onOlderServer(cell)] : [cell]))
    .sort((a, b) => Number(a.server === "older") - Number(b.server === "older"));
}

function isOnOlder({ peer, row, workload, variant }) {
  const { size, variants } = onOlder[workload] ?? {};
  if (row !== `${workload}@${size}`) return false;
  return (
    peersOnOlder.includes(peer.id) || (peer.package === undefined && variants.includes(variant))
  );
}

function onOlderServer(cell) {
  return { ...cell, row: `${cell.row}@older`, server: "older" };
}

function cellsOfPeer({ peer, workload, size, repeat, fill }) {
  const variants = peer.workloads[workload] ?? [];
  return variants
    .filter(({ most = size }) => size <= most)
    .map(({ id, size: own = size, repeat: times, note, warm }) => ({
      peer,
      variant: id,
      row: `${workload}@${size}`,
      workload,
      size: Math.min(own, size),
      repeat: times ?? repeat?.(size) ?? 1,
      fill,
      warm,
      note: [own < size ? `${own.toLocaleString("en-US")} tasks` : undefined, note]
        .filter((part) => part !== undefined)
        .join(", "),
    }));
}

/** The cells of one round of growth. Databases with a history are kept from round to round. */
export function growthCellsOf({ only, quick }, ours) {
  if (!only.includes("growth") || ours === undefined) return [];
  return growth.flatMap(({ id, workload, sizes, quick: small, history }) =>
    (quick ? small : sizes).map((n) => {
      const size = history ? 1000 : n;
      return {
        peer: ours,
        series: id,
        n,
        row: `${id}@${n}`,
        workload,
        size,
        repeat: Math.max(1, Math.min(10, Math.round((workload === "W3" ? 5000 : 1000) / size))),
        history: history && n > 0 ? n : undefined,
      };
    }),
  );
}
