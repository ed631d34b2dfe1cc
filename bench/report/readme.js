/**
 * The README's part on speed: one line a workload, what was not reached, and where and when. Written
 * by a whole run between two marks, so that what stands there was measured.
 */
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { amount, ratioText, titleOf } from "./table.js";

const file = fileURLToPath(new URL("../../README.md", import.meta.url));
const marks = { begin: "<!-- speed: written by npm run bench -->", end: "<!-- /speed -->" };

export async function writeReadme(summary) {
  const text = await readFile(file, "utf8");
  const begin = text.indexOf(marks.begin);
  const end = text.indexOf(marks.end);
  if (begin === -1 || end === -1) return;
  const part = [marks.begin, "", ...lines(summary), "", ""].join("\n");
  await writeFile(file, text.slice(0, begin) + part + text.slice(end));
}

/** Of several variants each with its name; ratios are to the first of ours. */
function figure(row, entry) {
  const note = entry.note ? `${entry.note}: ` : "";
  if (entry.error) return `${note}${entry.error}`;
  const ratio =
    entry.peer === "ours" || entry.ratio === undefined ? "" : ` (${ratioText(entry.ratio)} ×)`;
  return `${note}${amount(entry.value, row.unit)} ${row.unit}${ratio}`;
}

function lines({ machine, rounds, rows, targets, workers, concurrency }) {
  const labels = [...new Set(rows.flatMap(({ entries }) => entries.map(({ label }) => label)))];
  const cell = (row, label) => {
    const entries = row.entries.filter((one) => one.label === label);
    return entries.map((entry) => figure(row, entry)).join("; ");
  };
  const missed = targets.filter(({ reached }) => reached === false);
  return [
    "In brackets: how many times as fast ours (the first of its figures) was in the same round.",
    "",
    `| | ${labels.join(" | ")} |`,
    `| --- |${" --: |".repeat(labels.length)}`,
    ...rows.map(
      (row) => `| ${titleOf(row)} | ${labels.map((one) => cell(row, one)).join(" | ")} |`,
    ),
    "",
    "![Bars of every workload](bench/results/latest.svg)",
    "",
    `${machine.date}, medians of ${rounds} interleaved rounds; ${machine.cpu}, ${machine.cores} cores, ` +
      `PostgreSQL ${machine.postgres}${machine.older === undefined ? "" : ` (older: ${machine.older})`} with fsync and synchronous_commit on, one orchestrator and ` +
      `${workers} worker process${workers === 1 ? "" : "es"} with ${concurrency} tasks at once. ` +
      "[All figures](bench/results/latest.md) with statements, commits, WAL and CPU a task.",
    ...(missed.length === 0
      ? []
      : [
          "",
          "Not reached ([why](bench/README.md#what-is-not-reached-and-why)):",
          "",
          ...missed.map(({ text, detail }) => `- ${text}: ${detail}`),
        ]),
  ];
}
