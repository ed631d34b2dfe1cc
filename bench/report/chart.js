/**
 * Horizontal bars, one group a workload. Drawn without a background and with colours for light and
 * dark pages, so that it can stand in either.
 */
import { amount, nameOf, titleOf } from "./table.js";

const width = 860;
const labelWidth = 270;
const valueWidth = 130;
const barWidth = width - labelWidth - valueWidth;
const barHeight = 18;
const gap = 5;

const style = `
  text { font: 13px system-ui, sans-serif; fill: #24292f; }
  .title { font-weight: 600; }
  .note { font-size: 11px; fill: #57606a; }
  .bar { fill: #8c959f; }
  .ours { fill: #0969da; }
  .bold { font-weight: 600; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .note { fill: #9198a1; }
    .bar { fill: #6e7681; }
    .ours { fill: #4493f8; }
  }`;

export function drawChart({ rows, machine, rounds }) {
  const parts = [];
  let y = 20;
  for (const row of rows) {
    parts.push(text(0, y + 4, titleOf(row), "title"));
    y += 16;
    const entries = row.entries.filter(({ error }) => !error);
    const scale = scaleOf(row, entries);
    for (const entry of entries) {
      parts.push(...bar(row, entry, scale, y));
      y += barHeight + gap;
    }
    y += 22;
  }
  const { date, cpu, cores, postgres, node } = machine;
  const settings = `PostgreSQL ${postgres}, fsync and synchronous_commit on; Node ${node}`;
  const note = `${date}: ${cpu}, ${cores} cores; ${settings}; medians of ${rounds} round${rounds === 1 ? "" : "s"}`;
  parts.push(text(0, y, note, "note"));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-8 0 ${width + 16} ${y + 12}" role="img" aria-label="Benchmark of workflow engines">`,
    `<style>${style}\n</style>`,
    ...parts,
    "</svg>",
    "",
  ].join("\n");
}

/** Where less is better, one slow timer must not flatten all others: its bar is cut. */
function scaleOf({ isLower }, entries) {
  const largest = Math.max(...entries.map(({ value }) => value));
  const smallest = Math.min(...entries.map(({ value }) => value));
  return isLower ? Math.min(largest, smallest * 12) : largest;
}

function bar({ unit }, entry, scale, y) {
  const { peer, value } = entry;
  const isCut = value > scale;
  const length = Math.max(2, Math.round((Math.min(value, scale) / scale) * barWidth));
  const emphasis = peer === "ours" ? "bold" : "";
  const middle = y + barHeight / 2 + 4;
  const value_ = `${isCut ? "» " : ""}${amount(value, unit)} ${unit}`;
  return [
    text(0, middle, nameOf(entry), emphasis),
    `<rect class="bar ${peer === "ours" ? "ours" : ""}" x="${labelWidth}" y="${y}" width="${length}" height="${barHeight}" rx="2"/>`,
    text(labelWidth + length + 6, middle, value_, emphasis),
  ];
}

function text(x, y, content, className) {
  const safe = content.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  return `<text x="${x}" y="${y}" class="${className}">${safe}</text>`;
}
