import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { drawChart } from "./chart.js";
import { markdown } from "./markdown.js";
import { writeReadme } from "./readme.js";

const root = fileURLToPath(new URL("../../", import.meta.url));
const folder = fileURLToPath(new URL("../results/", import.meta.url));

export async function writeResults(summary) {
  await mkdir(folder, { recursive: true });
  await writeFile(`${folder}latest.json`, `${JSON.stringify(forFile(summary), null, 2)}\n`);
  await writeFile(`${folder}latest.md`, markdown(summary));
  await writeFile(`${folder}latest.svg`, drawChart(summary));
  await writeReadme(summary);
  await promisify(execFile)("npx", ["prettier", "--write", "README.md", "bench/results"], {
    cwd: root,
  });
  return "written: bench/results/latest.json, latest.md, latest.svg, and the README's part on speed";
}

/** Hundreds of latencies are left out: their percentiles are in the results. */
function forFile({ results, ...summary }) {
  const short = results.map((result) => ({ ...result, latencies: undefined, stack: undefined }));
  return { ...summary, results: short };
}
