/**
 * What the platform's benches found: `results/NAME.json` of one, and one page of them all,
 * `results/platform.md`. A figure is `{ what, value, unit, most?, least?, note? }`; `most` and
 * `least` are what it should reach.
 */
import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { cpus, loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { number } from "./table.js";

const root = fileURLToPath(new URL("../../", import.meta.url));
const folder = fileURLToPath(new URL("../results/", import.meta.url));
const names = [
  "raster",
  "cog",
  "tiles",
  "vector",
  "catalogue",
  "gateway",
  "brokers",
  "million",
  "observers",
  "h3-global",
];

/** Prints the figures; writes them only when `whole`, since a small run shows nothing but that it runs. */
export async function reportFigures(name, { title, settings, figures, whole }) {
  for (const figure of figures) {
    const end = reached(figure) === false ? "  ✗ not reached" : "";
    process.stdout.write(`${figure.what.padEnd(58)}${valueText(figure).padStart(22)}${end}\n`);
  }
  if (!whole) return;
  const machine = { cpu: cpus()[0]?.model.trim() ?? "unknown", cores: cpus().length };
  const date = new Date().toISOString().slice(0, 10);
  const load = Number(loadavg()[0].toFixed(2));
  const result = { title, date, machine, load, settings, figures };
  await mkdir(folder, { recursive: true });
  await writeFile(`${folder}${name}.json`, `${JSON.stringify(result, null, 2)}\n`);
  await writeFile(`${folder}platform.md`, await page());
  await promisify(execFile)("npx", ["prettier", "--write", "bench/results"], { cwd: root });
  process.stdout.write(`written: bench/results/${name}.json and platform.md\n`);
}

async function page() {
  const parts = [];
  for (const name of names) {
    const text = await readFile(`${folder}${name}.json`, "utf8").catch(() => undefined);
    if (text !== undefined) parts.push(section(name, JSON.parse(text)));
  }
  return `# The platform's figures\n\nEach part is written by its own command.\n\n${parts.join("\n")}`;
}

function section(name, { title, date, machine, settings, figures }) {
  const rows = figures.map((figure) => {
    const cells = [figure.what, valueText(figure), targetText(figure), figure.note ?? ""];
    return `| ${cells.join(" | ")} |`;
  });
  return [
    `## ${title}`,
    "",
    `\`npm run bench:${name}\`, ${date}; ${machine.cpu}, ${machine.cores} cores; ${settings}.`,
    "",
    "| | figure | to reach | |",
    "| --- | --: | --- | --- |",
    ...rows,
    "",
  ].join("\n");
}

function valueText({ value, unit }) {
  const digits = value >= 1000 ? 0 : value >= 100 ? 1 : 2;
  return `${number(value, digits)} ${unit}`;
}

function targetText(figure) {
  const { most, least, unit } = figure;
  if (most === undefined && least === undefined) return "";
  const goal = most === undefined ? `at least ${least} ${unit}` : `at most ${most} ${unit}`;
  return `${goal}: ${reached(figure) ? "reached" : "not reached"}`;
}

function reached({ value, most, least }) {
  if (most !== undefined) return value <= most;
  return least === undefined ? undefined : value >= least;
}
