/**
 * Pictures of the console for the documentation: `node scripts/screenshots.js` starts a site of its
 * own, lets some workflows run, and writes docs/images/NAME-light.webp and -dark.webp. Needs Chromium
 * and what `npm run build` writes.
 */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import sharp from "sharp";
import { makeBorders, makeTerrain } from "../dist/cli/demo/make-samples.js";
import { writeGeoTiff } from "../dist/cli/demo/write-geotiff.js";

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
  const call = createCall(site, token);
  const jobs = await runJobs(call);
  const assets = await makeAssets(call);
  const pages = {
    dashboard: ["", ".chart canvas"],
    jobs: ["/jobs", "tbody tr"],
    job: [`/jobs/${jobs.conditional}?node=route_by_size`, ".flow[data-laid] .flow-node"],
    "fan-out": [`/jobs/${jobs.wide}?node=split`, ".flow[data-laid] .flow-node"],
    gantt: [`/jobs/${jobs.failing}?view=gantt`, ".gantt-bar"],
    failure: [`/jobs/${jobs.failing}?node=flaky`, ".flow[data-laid] .flow-node"],
    workflow: ["/workflows/conditional_test?tab=runs", ".cell"],
    submit: ["/workflows/conditional_test/submit", "form .field"],
    assets: ["/assets", "tbody tr"],
    asset: [`/assets/${assets.borders}`, "tbody tr"],
    review: [`/review/${assets.terrain}/0`, ".map[data-idle]"],
    swipe: [`/review/${assets.borders}/1`, ".map[data-idle] >> nth=1"],
    catalogue: ["/catalogue?collection=heights&item=ITEM", ".map[data-idle]"],
    fleet: ["/fleet", "tbody tr"],
  };
  const { features } = await call("GET", "/stac/collections/heights/items");
  pages.catalogue[0] = pages.catalogue[0].replace("ITEM", features[0].id);
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
    await context.request.post(`${site}/api/v1/session`, { data: { token } });
    for (const [name, [address, sign]] of Object.entries(pages)) {
      const picture = await take(context, `${site}/ui${address}`, sign);
      await sharp(picture)
        .webp({ quality: 82, effort: 6 })
        .toFile(path.join(images, `${name}-${colorScheme}.webp`));
    }
    await context.close();
  }
  await browser.close();
}

async function take(context, url, sign) {
  const page = await context.newPage();
  await page.goto(url);
  await page.locator(sign).first().waitFor({ timeout: 60_000 });
  // Pages read again every few seconds, so the network is never idle for good.
  await page.waitForLoadState("networkidle", { timeout: 5000 }).catch(() => undefined);
  if (sign.startsWith(".map")) await page.waitForTimeout(4000);
  const picture = await page.screenshot();
  await page.close();
  return picture;
}

function createCall(site, token) {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  return async (method, address, body) => {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await fetch(site + address, { method, headers, ...sent });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${address}: ${text}`);
    return JSON.parse(text);
  };
}

async function until(read) {
  for (;;) {
    if (await read()) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

async function runJobs(call) {
  const submit = async (workflow_id, inputs = {}) =>
    (await call("POST", "/api/v1/jobs", { workflow_id, inputs })).job_id;
  const items = Array.from({ length: 400 }, (_, index) => index);
  const jobs = {
    conditional: await submit("conditional_test", { size_mb: 240 }),
    wide: await submit("fan_out_test", { item_list: items }),
    pipeline: await submit("data_pipeline_test", { dataset: "roads" }),
    checkpoint: await submit("checkpoint_test"),
    failing: await submit("retry_test", { failure_rate: 1 }),
  };
  for (let at = 0; at < 12; at += 1) await submit("conditional_test", { size_mb: at * 25 });
  for (const id of Object.values(jobs)) {
    await until(async () => (await call("GET", `/api/v1/jobs/${id}`)).completed_at !== null);
  }
  return jobs;
}

/** A raster that waits for its review, and a vector layer whose second version does. */
async function makeAssets(call) {
  // A platform reads files below its own folder only.
  const bronze = path.join(folder, "storage/bronze/ddh");
  mkdirSync(bronze, { recursive: true });
  const place = { epsg: 32632, west: 350_000, north: 5_210_000, pixel: 30 };
  writeFileSync(path.join(bronze, "terrain.tif"), writeGeoTiff(makeTerrain(900, 700), place));
  const borders = await makeBorders();
  const { features, ...collection } = JSON.parse(new TextDecoder().decode(borders));
  const some = features.filter((_, at) => at % 3 !== 0);
  writeFileSync(path.join(bronze, "borders.geojson"), borders);
  const fewer = JSON.stringify({ ...collection, features: some });
  writeFileSync(path.join(bronze, "some-borders.geojson"), fewer);

  const submit = async (dataset_id, version_label, workflow_id, inputs) => {
    const { asset_id, request_id } = await call("POST", "/api/v1/submit", {
      platform_id: "ddh",
      platform_refs: { dataset_id, resource_id: "layer" },
      version_label,
      workflow_id,
      inputs,
    });
    const at = `/api/v1/requests/${request_id}`;
    await until(async () => (await call("GET", at)).completed_at !== null);
    return asset_id;
  };
  const vector = (file) => ({ blob_path: `ddh/${file}`, collection_id: "countries" });
  const terrain = await submit("terrain", "2026-05", "raster_ingest", {
    blob_path: "ddh/terrain.tif",
    container: "bronze",
    collection_id: "heights",
    title: "A synthetic terrain",
  });
  const asset = await submit("borders", "v4", "vector_etl", vector("some-borders.geojson"));
  await call("PUT", `/api/v1/assets/${asset}/metadata`, {
    display_name: "Countries of the world",
    attribution: "Natural Earth",
    style: { vector: { fill: "#2f9e8f", stroke: "#06545c", width: 1 } },
  });
  await call("POST", `/api/v1/assets/${asset}/versions/0/approve`, { clearance: "public" });
  await submit("borders", "v5", "vector_etl", vector("borders.geojson"));
  return { terrain, borders: asset };
}
