/** What the engine set out to reach, as ratios within one run, and whether this run shows it. */
const raw = ["graphile", "pgboss"];
const onPostgres = ["graphile", "pgboss", "dbos", "dbos-queue"];

export function judge(rows, growth) {
  const most = (id) => rows.filter((one) => one.id === id).at(-1);
  return [
    atLeast("W1: p50 at most 1.2 × that of graphile-worker", most("W1"), ["graphile"], 1 / 1.2),
    atLeast("W2: no slower a hop than the best on PostgreSQL", most("W2"), onPostgres, 1),
    atLeast(
      "W3 with 10,000: 1.5 × the best peer",
      rows.find(({ row }) => row === "W3@10000"),
      undefined,
      1.5,
    ),
    atLeast("W4: 3 × pg-boss", most("W4"), ["pgboss"], 3),
    atLeast("W4: not slower than BullMQ on Redis", most("W4"), ["bullmq"], 1),
    atLeast("W5: 4 × DBOS", most("W5"), ["dbos-queue"], 4),
    withoutTarget("W5: beside the raw queues, which record no history", most("W5"), raw),
    ...["commits", "statements", "cpuMs"].map((name) => costAtMost(name, rows)),
    ...growth.map(growsLittle),
  ].filter((target) => target !== undefined);
}

/** Ours against the best of some peers: for every one of them it must be so many times as fast. */
function atLeast(text, row, peers, least) {
  const rivals = rivalsOf(row, peers);
  if (rivals.length === 0) return undefined;
  const best = rivals.reduce((one, other) => (other.ratio < one.ratio ? other : one));
  const detail = `${times(best.ratio)} ${best.label}`;
  return { text, reached: best.ratio >= least, detail };
}

function withoutTarget(text, row, peers) {
  const rivals = rivalsOf(row, peers);
  if (rivals.length === 0) return undefined;
  const detail = rivals.map(({ ratio, label }) => `${times(ratio)} ${label}`).join(", ");
  return { text, reached: undefined, detail };
}

function rivalsOf(row, peers) {
  return (row?.entries ?? []).filter(
    ({ peer, ratio }) => peer !== "ours" && ratio !== undefined && (peers?.includes(peer) ?? true),
  );
}

const limits = {
  commits: { most: 0.05, text: "at most 0.05 commits a task in W3 to W5", digits: 4 },
  statements: { most: 0.2, text: "at most 0.2 statements a task in W3 to W5", digits: 3 },
  cpuMs: { most: 0.25, text: "at most 0.25 ms of CPU a task in W3 to W5", digits: 3 },
};

function costAtMost(name, rows) {
  const { most, text, digits } = limits[name];
  const ours = rows
    .filter(({ id }) => ["W3", "W4", "W5"].includes(id))
    .map(({ row, entries }) => ({ row, entry: entries.find(({ peer }) => peer === "ours") }))
    .filter(({ entry }) => entry?.[name] !== undefined);
  if (ours.length === 0) return undefined;
  const detail = ours
    .map(({ row, entry }) => `${row.replace("@", " ")} ${entry[name].toFixed(digits)}`)
    .join(", ");
  return { text, reached: ours.every(({ entry }) => entry[name] <= most), detail };
}

function growsLittle({ title, points }) {
  const worst = Math.max(...points.map(({ cost }) => cost));
  const detail = points
    .map(({ n, cpuMs, cost }) => {
      const change =
        cost === 1 ? "" : ` (${cost >= 1 ? "+" : "−"}${Math.abs((cost - 1) * 100).toFixed(0)} %)`;
      return `${n.toLocaleString("en-US")}: ${cpuMs.toFixed(3)} ms${change}`;
    })
    .join(", ");
  return { text: `cost of a task grows by less than 20 %: ${title}`, reached: worst < 1.2, detail };
}

function times(ratio) {
  return `${ratio.toFixed(2)} ×`;
}
