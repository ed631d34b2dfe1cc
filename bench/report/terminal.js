import { figures } from "./figures.js";

export function progressLine(result) {
  const { round, peer, row, note, statements, commits, walBytes, cpuMs, foreign } = result;
  const { headline } = figures(result);
  const roles = Object.entries(result.cpuByRole).map(([role, ms]) => `${role} ${number(ms, 3)}`);
  const per = [
    ...(statements === undefined ? [] : [`${number(statements, 3)} statements`]),
    ...(commits === undefined ? [] : [`${number(commits, 4)} commits`]),
    ...(walBytes === undefined ? [] : [`${number(walBytes, 0)} B WAL`]),
    `CPU ms ${number(cpuMs, 3)} (${roles.join(", ")})`,
  ];
  const name = note === undefined ? peer : `${peer} (${note})`;
  return [
    `${round} ${row.padEnd(10)} ${name.padEnd(28)} ${headline.padEnd(26)} a task: ${per.join(", ")}`,
    `; foreign load ${number(foreign, 2)} cores`,
  ].join("");
}

/** The top of pg_stat_statements: where the server's time went. */
export function statementLines(top, tasks) {
  const lines = top.map(({ calls, ms, rows, wal, query }) =>
    [
      `${number(ms, 0).padStart(9)} ms`,
      `${number((ms / tasks) * 1000, 1).padStart(8)} us/task`,
      `${number(calls, 0).padStart(8)} calls`,
      `${number(rows, 0).padStart(9)} rows`,
      `${number(wal / 1e6, 1).padStart(8)} MB WAL`,
      `  ${query.slice(0, 110)}`,
    ].join(" "),
  );
  return lines.join("\n");
}

export function number(value, digits) {
  return value.toLocaleString("en-US", {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
}
