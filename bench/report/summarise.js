/** Medians over the rounds, and ratios taken within each round, where both met the same noise. */
import { growth, workloads } from "../harness/plan.js";
import { figures, median, medianOf, ratioOf } from "./figures.js";
import { judge } from "./targets.js";

const costs = [
  "statements",
  "commits",
  "walBytes",
  "diskBytes",
  "cpuMs",
  "foreign",
  "fillPerSecond",
];

export function summarise({ options, peers, machine, seconds, results }) {
  const rows = [...new Set(results.filter(({ series }) => !series).map(({ row }) => row))].map(
    (row) =>
      summariseRow(
        results.filter((result) => result.row === row),
        peers,
      ),
  );
  const series = growth
    .map((one) => summariseGrowth(one, results))
    .filter(({ points }) => points.length > 1);
  return {
    machine,
    rounds: options.rounds,
    seconds: Math.round(seconds),
    workers: options.settings.workers,
    concurrency: options.settings.concurrency,
    rows,
    growth: series,
    targets: judge(rows, series),
    results,
  };
}

function summariseRow(results, peers) {
  const [{ row }] = results;
  const [id, size, server] = row.split("@");
  const { title, unit } = workloads[id];
  const isLower = unit !== "tasks/s";
  const reference = new Map();
  for (const result of results) {
    if (result.peer !== "ours" || result.error || reference.has(result.round)) continue;
    reference.set(result.round, figures(result).value);
  }
  const keys = [...new Set(results.map(({ peer, note }) => JSON.stringify([peer, note])))];
  const entries = keys.map((key) => {
    const own = results.filter(({ peer, note }) => JSON.stringify([peer, note]) === key);
    const good = own.filter(({ error }) => !error);
    const [{ peer, note, variant }] = own;
    const { label } = peers.find(({ id: one }) => one === peer);
    if (good.length === 0) return { peer, label, note, variant, error: own[0].error };
    const byRound = new Map(good.map((result) => [result.round, figures(result).value]));
    const values = [...byRound.values()];
    return {
      peer,
      label,
      note,
      variant,
      byRound: Object.fromEntries(byRound),
      rounds: good.length,
      value: median(values),
      lowest: Math.min(...values),
      highest: Math.max(...values),
      p95: medianOf(good.map((result) => figures(result).p95)),
      /** How many times as fast the first row of ours is. */
      ratio: ratioOf(reference, byRound, isLower),
      ...medians(good),
    };
  });
  return { row, id, size: Number(size), server, title, unit, isLower, entries };
}

/** What a task costs in CPU, compared with the smallest point of its series. */
function summariseGrowth({ id, title }, results) {
  const own = results.filter(({ series, error }) => series === id && !error);
  const points = [...new Set(own.map(({ n }) => n))].map((n) => {
    const here = own.filter((result) => result.n === n);
    return { n, tasksPerSecond: median(here.map((one) => figures(one).value)), ...medians(here) };
  });
  const [first] = points;
  return {
    id,
    title,
    points: points.map((point) => ({ ...point, cost: point.cpuMs / first.cpuMs })),
  };
}

function medians(results) {
  return Object.fromEntries(
    costs.map((name) => [name, medianOf(results.map((result) => result[name]))]),
  );
}
