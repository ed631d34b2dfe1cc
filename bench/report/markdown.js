import { cells, heads, number, titleOf } from "./table.js";

export function markdown(summary) {
  const { machine, rounds, rows, growth, targets, seconds } = summary;
  return [
    "# Benchmark",
    "",
    `${machine.date}, medians of ${rounds} interleaved round${rounds === 1 ? "" : "s"} in ${minutes(seconds)}. Statements, commits, WAL, disk and CPU are for one task; CPU counts all processes, the store included; “ours is” says how many times as fast our engine (its first line) was in the same round; “foreign” are cores that something else on the machine used meanwhile.`,
    "",
    "![Bars of every workload](latest.svg)",
    "",
    ...rows.flatMap((row) => [
      `## ${titleOf(row)}`,
      "",
      ...table(
        heads,
        row.entries.map((entry) => highlight(entry, cells(row, entry))),
      ),
      "",
    ]),
    ...(growth.length === 0 ? [] : ["## Growth", ""]),
    ...growth.flatMap(({ title, points }) => [
      `${title[0].toUpperCase()}${title.slice(1)}:`,
      "",
      ...table(
        ["n", "tasks/s", "statements", "CPU ms", "of the first"],
        points.map(({ n, tasksPerSecond, statements, cpuMs, cost }) => [
          number(n, 0),
          number(tasksPerSecond, 0),
          number(statements, 3),
          number(cpuMs, 3),
          `${number(cost * 100, 0)} %`,
        ]),
      ),
      "",
    ]),
    "## Targets",
    "",
    ...paragraphs(targets),
    "## Machine and settings",
    "",
    ...settings(summary),
    "",
  ].join("\n");
}

function paragraphs(targets) {
  const list = (title, wanted) => {
    const found = targets.filter(({ reached }) => reached === wanted);
    if (found.length === 0) return [];
    return [title, "", ...found.map(({ text, detail }) => `- ${text}: ${detail}`), ""];
  };
  return [
    ...list("Reached:", true),
    ...list("Not reached:", false),
    ...list("Without a target:", undefined),
  ];
}

function settings({ machine, workers, concurrency }) {
  const { cpu, cores, memoryGib, system, node, postgres, redis, engines } = machine;
  const names = engines.map(({ label, version, kind }) => {
    const what = kind === undefined ? "" : `: ${kind}`;
    return `- ${label} ${version}${what}.`;
  });
  const server = Object.entries(machine.settings).map(([name, value]) => `${name} ${value}`);
  return [
    `- ${cpu}, ${cores} cores, ${memoryGib} GiB, ${system}; store, submitter and workers share it. Load at the start ${machine.loadAtStart}.`,
    `- PostgreSQL ${postgres}${machine.older === undefined ? "" : `, and ${machine.older} where it says “older”`}: ${server.join(", ")}${redis === undefined ? "" : `; Redis ${redis}, AOF everysec`}.`,
    `- Node ${node} for all.`,
    ...names,
    `- Ours is one orchestrator, ${workers} worker process${workers === 1 ? "" : "es"} with ${concurrency} tasks at once, jobs over HTTP.`,
  ];
}

/** Ours stands out. */
function highlight({ peer }, texts) {
  return peer === "ours" ? texts.map((text) => (text === "" ? "" : `**${text}**`)) : texts;
}

function table(titles, lines) {
  const line = (texts) => `| ${texts.join(" | ")} |`;
  return [line(titles), `| --- |${" --: |".repeat(titles.length - 1)}`, ...lines.map(line)];
}

function minutes(seconds) {
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} minutes`;
}
