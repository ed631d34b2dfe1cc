import { figures } from "./figures.js";
import { cells, heads, number, titleOf } from "./table.js";

export function progressLine(result) {
  const { round, peer, row, note, repeats = 0 } = result;
  const name = note ? `${peer} (${note})` : peer;
  const begin = `${round} ${row.padEnd(16)} ${name.padEnd(28)}`;
  if (result.error) return `${begin} FAILED: ${result.stack ?? result.error}`;
  const { statements, commits, walBytes, diskBytes, cpuMs, foreign } = result;
  const roles = Object.entries(result.cpuByRole).map(([role, ms]) => `${role} ${number(ms, 3)}`);
  const per = [
    ...(statements === undefined ? [] : [`${number(statements, 3)} statements`]),
    ...(commits === undefined ? [] : [`${number(commits, 4)} commits`]),
    ...(walBytes === undefined ? [] : [`${number(walBytes, 0)} B WAL`]),
    ...(diskBytes === undefined ? [] : [`${number(diskBytes, 0)} B on disk`]),
    `CPU ms ${number(cpuMs, 3)} (${roles.join(", ")})`,
  ];
  const { headline } = figures(result);
  const load = `foreign load ${number(foreign, 2)} cores; ${number(result.seconds, 0)} s${repeats > 0 ? `, repeated ${repeats} times` : ""}`;
  return `${begin} ${headline.padEnd(26)} a task: ${per.join(", ")}; ${load}`;
}

/** The top of pg_stat_statements: where the server's time went. */
export function statementLines(top, tasks) {
  const lines = top.map(({ calls, ms, rows, wal, query }) =>
    [
      `${number(ms, 0).padStart(9)} ms`,
      `${number((ms / tasks) * 1000, 1).padStart(8)} us/task`,
      `${number(calls, 0).padStart(8)} calls`,
      `${number(rows, 0).padStart(9)} rows`,
      `${number(wal / tasks, 0).padStart(7)} B WAL/task`,
      `  ${query.slice(0, 110)}`,
    ].join(" "),
  );
  return lines.join("\n");
}

export function summaryTable({ rows, growth, targets, rounds, seconds }) {
  const blocks = rows.map((row) =>
    [titleOf(row), ...align([heads, ...row.entries.map((entry) => cells(row, entry))])].join("\n"),
  );
  const series = growth.map(({ title, points }) =>
    [
      `growth, ${title}`,
      ...align([
        ["n", "tasks/s", "CPU ms a task", "of the first"],
        ...points.map(({ n, tasksPerSecond, cpuMs, cost }) => [
          number(n, 0),
          number(tasksPerSecond, 0),
          number(cpuMs, 3),
          `${number(cost * 100, 0)} %`,
        ]),
      ]),
    ].join("\n"),
  );
  const reached = targets.map(({ text, reached: is, detail }) => {
    const verdict = is === undefined ? "no target  " : is ? "reached    " : "NOT REACHED";
    return `  ${verdict}  ${text}: ${detail}`;
  });
  return [
    "",
    `Medians of ${rounds} round${rounds === 1 ? "" : "s"}, ${seconds} s; costs are for one task.`,
    "",
    ...[...blocks, ...series].map((block) => `${block}\n`),
    ...(reached.length === 0 ? [] : ["Targets", ...reached]),
  ].join("\n");
}

function align(table) {
  const widths = table[0].map((_, at) => Math.max(...table.map((line) => line[at].length)));
  return table.map((line) =>
    `  ${line
      .map((cell, at) => (at < 1 ? cell.padEnd(widths[at]) : cell.padStart(widths[at])))
      .join("  ")}`.trimEnd(),
  );
}
