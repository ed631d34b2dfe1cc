/**
 * A whole platform from the images of deploy/: two orchestrators, a worker and a gateway, on a database of
 * this machine. Needs root, buildah, runc and debootstrap.
 */
import { createHash, randomBytes } from "node:crypto";
import { chown, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createLocalStorage } from "../../src/adapters/storage/local-storage.ts";
import { createClient } from "../../src/core/api/client.ts";
import type { Client } from "../../src/core/api/client.ts";
import { isFinished } from "../../src/core/model/job.ts";
import type { JsonObject } from "../../src/core/model/json.ts";
import type { TestDatabase } from "../support/database.ts";
import { createTestDatabase } from "../support/database.ts";
import { fixture } from "../support/fixtures.ts";
import { freePort } from "../support/free-port.ts";
import { makeUrls } from "./platform.ts";
import type { ProgramUrls } from "./platform.ts";
import { waitFor } from "../support/wait.ts";
import { buildImages, images, run } from "./build-images.ts";
import type { Container } from "./containers.ts";
import { configOf, startContainer } from "./containers.ts";

const user = 10_001;
const token = randomBytes(16).toString("hex");
const hash = createHash("sha256").update(token).digest("hex");
let database: TestDatabase;
let urls: ProgramUrls;
let data: string;
const containers: Container[] = [];

beforeAll(async () => {
  await buildImages();
  database = await createTestDatabase();
  urls = await makeUrls(database.url);
  data = await mkdtemp(path.join(tmpdir(), "rmhdag-images-"));
  const storage = createLocalStorage(path.join(data, "storage"));
  await storage.putFile("bronze/dem.tif", fixture("raster/dem_float32_epsg2056.tif"));
  await run("chown", "-R", `${user}:${user}`, data);
  await chown(data, user, user);
});
afterAll(async () => {
  for (const container of containers) await container.remove();
  await urls.remove();
  await database.drop();
  await rm(data, { recursive: true, force: true });
});

async function start(...[image, env]: [keyof typeof images, Record<string, string>]) {
  const container = await startContainer(image, env, data);
  containers.push(container);
  return container;
}

async function startOrchestrator(): Promise<{ container: Container; client: Client; url: string }> {
  const port = await freePort();
  const container = await start("orchestrator", {
    DATABASE_URL: urls.orchestrator,
    ORCHESTRATOR_PORT: String(port),
    DAG_SERVICE_TOKENS: `test:read+operate+curate+service:${hash}`,
    HEARTBEAT_INTERVAL_SEC: "1",
    ORPHAN_THRESHOLD_SEC: "5",
    ORPHAN_SCAN_INTERVAL_SEC: "1",
  });
  const url = `http://127.0.0.1:${port}`;
  return { container, url, client: createClient({ baseUrl: url, token, fetch }) };
}

const startWorker = () =>
  start("worker", {
    DATABASE_URL: urls.worker,
    WORKER_QUEUE: "functionapp-tasks,container-tasks,dag-worker-tasks",
  });

async function submit(client: Client, workflow_id: string, inputs: JsonObject): Promise<string> {
  return (await client.submitJob({ body: { workflow_id, inputs } })).job_id;
}

const ended = (client: Client, job_id: string) =>
  waitFor(
    async () => {
      const job = await client.getJob({ params: { job_id } });
      return isFinished(job.status) ? job : undefined;
    },
    { timeoutMs: 120_000, what: `the end of job ${job_id}` },
  );

describe.each(Object.keys(images) as (keyof typeof images)[])("the image of the %s", (name) => {
  it("runs as a user without rights, and names its health check and its command", async () => {
    const { User, Cmd, Healthcheck } = await configOf(name);
    expect(User).toBe(`${user}:${user}`);
    expect(Cmd).toEqual(["node", `dist/programs/${name}.js`]);
    if (name !== "worker") expect(Healthcheck?.Test.slice(0, 3)).toEqual(["CMD", "node", "-e"]);
  });
});

it("completes work from the images, and goes on while each program is replaced by a new one", async () => {
  const first = await startOrchestrator();
  const second = await startOrchestrator();
  const worker = await startWorker();
  const gatewayPort = await freePort();
  await start("gateway", {
    GATEWAY_DATABASE_URL: urls.gateway,
    GATEWAY_PORT: String(gatewayPort),
    ORCHESTRATOR_URL: first.url,
    DAG_SERVICE_TOKEN: token,
  });
  expect((await fetch(`http://127.0.0.1:${gatewayPort}/api/livez`)).status).toBe(200);
  expect((await fetch(`${first.url}/ui/`)).status).toBe(200);

  const echo = await submit(second.client, "echo_test", { message: "hello" });
  expect((await ended(first.client, echo)).status).toBe("completed");

  const raster = await submit(first.client, "raster_ingest", {
    blob_path: "bronze/dem.tif",
    collection_id: "images",
  });
  const { status, error } = await ended(first.client, raster);
  expect({ status, error }).toEqual({ status: "completed", error: null });
  const { items } = await first.client.listWorkers();
  expect(items.map(({ gdal }) => gdal?.sandbox)).toEqual([
    expect.stringMatching(/bubblewrap|namespaces/),
  ]);

  // A rolling upgrade: a new program starts, then an old one stops.
  const jobs = await Promise.all(
    Array.from({ length: 40 }, (_, n) => submit(first.client, "echo_test", { message: `n ${n}` })),
  );
  const third = await startOrchestrator();
  expect(await first.container.stop()).toBe(0);
  await startWorker();
  expect(await worker.stop()).toBe(0);
  const fourth = await startOrchestrator();
  expect(await second.container.stop()).toBe(0);
  for (const job of jobs) expect((await ended(fourth.client, job)).status).toBe("completed");
  expect((await third.client.health()).status).toBe("ok");
});
