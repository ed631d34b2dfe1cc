/** What the engine set out to reach, as ratios within one run, and whether this run shows it. */
import { ratioBetween } from "./figures.js";

/** Of a row: which of our entries, by variant, against which peers, and at least how many times. */
const ratios = [
  {
    text: "W1, output in hand: 0.85 × graphile-worker",
    row: "W1@200",
    to: ["graphile"],
    least: 0.85,
  },
  { text: "W2: 1.3 × DBOS in-process", row: "W2@50", to: ["dbos"], least: 1.3 },
  { text: "W3 with 1,000: 1.5 × BullMQ", row: "W3@1000", to: ["bullmq"], least: 1.5 },
  { text: "W3 with 10,000: 1.5 × pg-boss", row: "W3@10000", to: ["pgboss"], least: 1.5 },
  {
    text: "W3 with 10,000 on the older PostgreSQL: 1.5 × pg-boss",
    row: "W3@10000@older",
    to: ["pgboss"],
    least: 1.5,
  },
  {
    text: "W4, single submissions: 2.5 × pg-boss",
    row: "W4@1000",
    ours: ["single"],
    to: ["pgboss"],
    least: 2.5,
  },
  {
    text: "W4, batches: 1.5 × BullMQ",
    row: "W4@1000",
    ours: ["cold", "warm"],
    to: ["bullmq"],
    theirs: ["bulk"],
    least: 1.5,
  },
  {
    text: "W5, fan-outs: 0.8 × pg-boss with outputs",
    row: "W5@100000",
    ours: ["cold", "warm"],
    to: ["pgboss"],
    least: 0.8,
  },
  {
    text: "W5, jobs of one task: not slower than BullMQ",
    row: "W5@100000",
    ours: ["jobs", "jobs-warm"],
    to: ["bullmq"],
    least: 1,
  },
];

/** Of our entries of a row: at most (or least) so much of a figure. */
const amounts = [
  ...[
    ["W3@10000", 0.15],
    ["W4@1000", 0.25],
  ].map(([row, most]) => ({
    text: `CPU of a task in ${row.split("@")[0]}: ${most} ms`,
    row,
    name: "cpuMs",
    most,
    digits: 3,
  })),
  ...[
    ["fan-outs", ["cold", "warm"]],
    ["jobs of one task", ["jobs", "jobs-warm"]],
  ].flatMap(([what, ours]) =>
    [
      { text: "CPU of a task: 0.09 ms", name: "cpuMs", most: 0.09, digits: 3 },
      { text: "WAL of a task: 1,800 B", name: "walBytes", most: 1800, digits: 0 },
      { text: "bytes that a task leaves: 1,200 B", name: "diskBytes", most: 1200, digits: 0 },
    ].map((amount) => ({ ...amount, text: `W5, ${what}, ${amount.text}`, row: "W5@100000", ours })),
  ),
  {
    text: "3,000 submissions a second by 32 clients",
    row: "W7@5000",
    name: "value",
    least: 3000,
    digits: 0,
  },
];

export function judge(rows, growth) {
  const find = (name) => rows.find(({ row }) => row === name);
  return [
    ...ratios.map((target) => judgeRatio(target, find(target.row))),
    ...amounts.map((target) => judgeAmount(target, find(target.row))),
    ...growth.map(growsLittle),
  ].filter((target) => target !== undefined);
}

/** Each of our variants must be so many times as fast as the best entry of these peers. */
function judgeRatio({ text, ours: variants, to, theirs, least }, row) {
  const rivals = (row?.entries ?? []).filter(
    ({ peer, variant, byRound }) =>
      to.includes(peer) && byRound && (theirs?.includes(variant) ?? true),
  );
  const found = oursOf(row, variants).flatMap((entry) =>
    rivals.map((rival) => ({ entry, ratio: ratioBetween(row, entry, rival), rival })),
  );
  const known = found.filter(({ ratio }) => ratio !== undefined);
  if (known.length === 0) return undefined;
  const detail = known
    .map(({ entry, ratio, rival }) => `${named(entry, ratio.toFixed(2))} ×${noteOf(rival)}`)
    .join(", ");
  return { text, reached: known.every(({ ratio }) => ratio >= least), detail };
}

function judgeAmount({ text, name, ours: variants, most = Infinity, least = 0, digits }, row) {
  const ours = oursOf(row, variants).filter((entry) => entry[name] !== undefined);
  if (ours.length === 0) return undefined;
  const detail = ours.map((entry) => named(entry, entry[name].toFixed(digits))).join(", ");
  const isReached = ours.every((entry) => entry[name] <= most && entry[name] >= least);
  return { text, reached: isReached, detail };
}

function oursOf(row, variants) {
  return (row?.entries ?? []).filter(
    ({ peer, variant, byRound }) =>
      peer === "ours" && byRound && (variants?.includes(variant) ?? true),
  );
}

function named({ note }, text) {
  return note ? `${note} ${text}` : text;
}

function noteOf({ label, note }) {
  return note ? ` ${label} (${note})` : ` ${label}`;
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
  return { text: `cost of a task grows by less than 10 %: ${title}`, reached: worst < 1.1, detail };
}
