/**
 * Pictures of the console for the documentation: `node scripts/screenshots.js` starts a site of its
 * own, lets some workflows run, and writes docs/images/NAME-light.png and -dark.png. Needs Chromium
 * and what `npm run build` writes.
 */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const root = fileURLToPath(new URL("..", import.meta.url));
const images = path.join(root, "docs/images");
const folder = mkdtempSync(path.join(tmpdir(), "rmhdag-screenshots-"));

const up = spawn(
  process.execPath,
  [path.join(root, "bin/rmhdag.js"), "up", "--port", "0", "--data-dir", folder],
  { cwd: root },
);
const url = await new Promise((resolve, reject) => {
  let text = "";
  up.stdout.on("data", (chunk) => {
    text += String(chunk);
    const found = /is running at (http:\S+)/.exec(text)?.[1];
    if (found !== undefined) resolve(found);
  });
  up.once("exit", () => reject(new Error(text)));
});

try {
  await takeAll(url, readFileSync(path.join(folder, "cli-token"), "utf8").trim());
} finally {
  up.kill("SIGTERM");
  await new Promise((resolve) => up.once("exit", resolve));
  rmSync(folder, { recursive: true, force: true });
}

async function takeAll(site, token) {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const call = async (address, body) => {
    const options = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    return (await fetch(site + address, { headers, ...options })).json();
  };
  const submit = async (workflow_id, inputs = {}) =>
    (await call("/api/v1/jobs", { workflow_id, inputs })).job_id;
  const ended = async (id) => {
    for (;;) {
      const job = await call(`/api/v1/jobs/${id}`);
      if (job.completed_at !== null) return;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  };
  const items = Array.from({ length: 400 }, (_, index) => index);
  const jobs = {
    conditional: await submit("conditional_test", { size_mb: 240 }),
    wide: await submit("fan_out_test", { item_list: items }),
    pipeline: await submit("data_pipeline_test", { dataset: "roads" }),
    checkpoint: await submit("checkpoint_test"),
    failing: await submit("retry_test", { failure_rate: 1 }),
  };
  for (let at = 0; at < 12; at += 1) await submit("conditional_test", { size_mb: at * 25 });
  for (const id of Object.values(jobs)) await ended(id);

  const pages = {
    dashboard: ["", ".chart canvas"],
    jobs: ["/jobs", "tbody tr"],
    job: [`/jobs/${jobs.conditional}?node=route_by_size`, ".flow-node"],
    "fan-out": [`/jobs/${jobs.wide}?node=split`, ".child-row"],
    gantt: [`/jobs/${jobs.checkpoint}?view=gantt`, ".gantt-bar.retry"],
    failure: [`/jobs/${jobs.failing}?node=flaky`, ".attempt"],
    workflow: ["/workflows/conditional_test?tab=runs", ".cell"],
    submit: ["/workflows/conditional_test/submit", "form .field"],
    fleet: ["/fleet", "tbody tr"],
  };
  mkdirSync(images, { recursive: true });
  const browser = await chromium.launch({
    executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"],
  });
  for (const colorScheme of ["light", "dark"]) {
    const context = await browser.newContext({
      colorScheme,
      viewport: { width: 1280, height: 800 },
    });
    await context.addCookies([
      { name: "rmhdag_session", value: encodeURIComponent(token), url: site },
    ]);
    for (const [name, [address, sign]] of Object.entries(pages)) {
      const page = await context.newPage();
      await page.goto(`${site}/ui${address}`);
      await page.locator(sign).first().waitFor({ timeout: 60_000 });
      await page.waitForLoadState("networkidle").catch(() => undefined);
      await page.screenshot({ path: path.join(images, `${name}-${colorScheme}.png`) });
      await page.close();
    }
    await context.close();
  }
  await browser.close();
}
