/**
 * The examples of the reference architecture as real programs run them: its workflows as they stand
 * there, its jobs of stages, its variables and its addresses.
 */
import { createHash, randomUUID } from "node:crypto";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPostgresBroker } from "../../src/adapters/broker/postgres-broker/create-postgres-broker.ts";
import { createLogger } from "../../src/adapters/runtime/logger.ts";
import { createLocalStorage } from "../../src/adapters/storage/local-storage.ts";
import type { JsonObject } from "../../src/core/model/json.ts";
import type { TestDatabase } from "../support/database.ts";
import { createTestDatabase } from "../support/database.ts";
import { fixture } from "../support/fixtures.ts";
import { hasGdal } from "../support/gdal.ts";
import { run as runCli } from "../support/processes.ts";
import { Fleet, finished, submit } from "../support/programs.ts";
import type { Orchestrator } from "../support/programs.ts";
import { waitFor } from "../support/wait.ts";

const slow = 240_000;
const shipped = path.resolve(import.meta.dirname, "../../workflows");
let folder: string;
let database: TestDatabase;
let fleet: Fleet;
let orchestrator: Orchestrator;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "rmhdag-reference-"));
  await cp(fixture("reference-workflows"), folder, { recursive: true });
  for (const name of ["hello_world_stages", "list_container_contents", "catalog_files"]) {
    await cp(path.join(shipped, `${name}.yaml`), path.join(folder, `${name}.yaml`));
  }
  database = await createTestDatabase();
  fleet = new Fleet(database.url, folder);
  // The variables of the reference architecture, as it writes them.
  orchestrator = await fleet.orchestrator({
    RUN_MODE: "orchestrator",
    LOG_LEVEL: "INFO",
    LOG_FORMAT: "json",
    USE_MANAGED_IDENTITY: "false",
    ORCHESTRATOR_POLL_INTERVAL: "5",
  });
  await fleet.worker({
    RUN_MODE: "worker",
    LOG_LEVEL: "INFO",
    LOG_FORMAT: "json",
    WORKER_TYPE: "docker",
    WORKER_CONCURRENCY: "2",
  });
  const storage = createLocalStorage(path.join(fleet.dataDirectory, "storage"));
  const dem = fixture("raster/dem_float32_epsg2056.tif");
  await storage.putFile("bronze/in/dem.tif", dem);
  await storage.put("bronze/files/a.txt", new Uint8Array(1024));
  await storage.put("bronze/files/b.txt", new Uint8Array(3072));
}, slow);
afterAll(async () => {
  await fleet.stop();
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

async function run(workflow: string, inputs: JsonObject) {
  const job = await finished(orchestrator, await submit(orchestrator, workflow, inputs), slow);
  expect([workflow, job.status, job.error]).toEqual([workflow, "completed", null]);
  return job.result_data as Record<string, JsonObject>;
}

const file = { blob_name: "in/dem.tif", container_name: "bronze" };

describe("workflows of the reference architecture run as they stand", () => {
  it(
    "those without a raster",
    async () => {
      expect(await run("echo_test", { message: "hello" })).toMatchObject({
        echo_handler: { echoed_params: { message: "hello" } },
      });
      const fan = await run("fan_out_test", { item_list: ["alpha", "bravo", "charlie"] });
      expect(fan["aggregate"]).toMatchObject({
        count: 3,
        results: [{ echoed_params: { item_value: "alpha", item_index: 0 } }, {}, {}],
      });
    },
    slow,
  );

  it.skipIf(!hasGdal)(
    "those that process a raster (needs GDAL)",
    async () => {
      const zones = {
        type: "FeatureCollection",
        features: [
          [7.095, 45.918],
          [8.5, 47.5],
        ].map(([x = 0, y = 0], index) => ({
          type: "Feature",
          properties: { name: `zone ${index}` },
          geometry: square(x, y, 0.0005),
        })),
      };
      const [routed, processed, conditional, fixed, exponential, tiled, custom] = await Promise.all(
        [
          run("queue_routing", file),
          run("raster_processing", file),
          run("conditional_routing", file),
          run("retry_fixed", file),
          run("retry_exponential", file),
          run("raster_tiled_processing", { ...file, collection_id: "reference" }),
          run("my_custom_pipeline", { ...file, aoi: square(7.095, 45.918, 0.001), zones }),
        ],
      );
      for (const cog of [routed["process"], processed["process_fa"], fixed["process"]]) {
        expect(cog).toMatchObject({ crs: "EPSG:2056", container: "silver" });
      }
      expect(exponential["process"]).toMatchObject({ action: routed["process"]!["action"] });
      expect(conditional["merge"]).toMatchObject({
        finalized: true,
        results: { crs: "EPSG:2056" },
      });
      expect(tiled["finalize"]).toMatchObject({ collection_id: "reference", item_id: "in-dem" });
      const traced = (await call("GET", "/api/v1/lineage?path=bronze/in/dem.tif"))
        .body as unknown as {
        nodes: { kind: string; id: string; distance: number }[];
        edges: { relation: string }[];
      };
      expect(traced.nodes).toContainEqual(
        expect.objectContaining({ kind: "item", id: "reference/in-dem", distance: 2 }),
      );
      const unused = (await call("GET", "/api/v1/files/unreferenced?limit=100")).body.items;
      const direct = routed["process"]!["blob_path"] as string;
      expect(unused.map((each) => each["path"])).toContain(direct);
      const listed = await runCli(["unreferenced"], {
        env: { ORCHESTRATOR_URL: orchestrator.url },
      });
      expect(listed.stdout).toContain(direct);
      const analyzed = custom["analyze"] as unknown as {
        zones: { count: number; mean: number | null }[];
      };
      expect(analyzed.zones[0]!.count).toBeGreaterThan(10);
      expect(analyzed.zones[0]!.mean).toBeGreaterThan(100);
      expect(analyzed.zones[1]).toMatchObject({ count: 0, mean: null });
    },
    slow,
  );

  it("a message of the job queue by its own names, and refuses one that it does not understand", async () => {
    const broker = createPostgresBroker({
      db: database.db,
      url: database.url,
      holder: "test",
      log: createLogger({ level: "silent", format: "json" }),
    });
    const send = (body: object) =>
      broker.publish("dag-jobs", [{ id: randomUUID(), body: JSON.stringify(body) }]);
    await send({
      workflow_id: "echo_test",
      input_params: { message: "by queue" },
      correlation_id: null,
      priority: 0,
      submitted_at: "2026-02-12T10:00:00",
      message_id: "m-1",
    });
    await send({ workflow_id: "echo_test", inputs: {}, deadline: "tomorrow" });
    const jobs = () =>
      database.db.query<{ message: string }>(
        `SELECT input_params ->> 'message' AS message FROM dagapp.dag_jobs
         WHERE input_params ->> 'message' = 'by queue'`,
      );
    await waitFor(async () => (await jobs()).rows.length === 1, { what: "the job is made" });
    const dead = await waitFor(
      async () => {
        const found = await broker.deadLetters("dag-jobs", 10);
        return found.length === 1 ? found : undefined;
      },
      { what: "the other message is set aside" },
    );
    expect(JSON.stringify(dead)).toContain("deadline");
    await broker.close();
  });
});

function square(x: number, y: number, size: number): JsonObject {
  const ring = [
    [x, y],
    [x + size, y],
    [x + size, y + size],
    [x, y + size],
    [x, y],
  ];
  return { type: "Polygon", coordinates: [ring] };
}

interface StageJob {
  readonly job_id: string;
  readonly status: string;
  readonly created: boolean;
  readonly stage: number;
  readonly total_stages: number;
  readonly stage_results: Record<string, { task_count: number; results: JsonObject[] }>;
  readonly result_data: JsonObject | null;
}

async function call(method: string, at: string, body?: object) {
  const answer = await fetch(`${orchestrator.url}${at}`, {
    method,
    headers: { "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return {
    status: answer.status,
    body: (await answer.json()) as StageJob & { items: JsonObject[] },
  };
}

async function ended(jobId: string): Promise<StageJob> {
  return waitFor(
    async () => {
      const { body } = await call("GET", `/api/jobs/status/${jobId}`);
      return body.status === "completed" || body.status === "failed" ? body : undefined;
    },
    { what: "the job of stages ends", timeoutMs: 60_000 },
  );
}

describe("jobs of stages", () => {
  it("greets and replies n times, as one job however often it is submitted", async () => {
    const parameters = { n: 3, message: "Hi" };
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => call("POST", "/api/jobs/submit/hello_world", parameters)),
    );
    const id = createHash("sha256")
      .update('{"job_type": "hello_world", "parameters": {"message": "Hi", "n": 3}}')
      .digest("hex");
    expect(new Set(answers.map(({ body }) => body.job_id))).toEqual(new Set([id]));
    expect(answers.filter(({ body }) => body.created).length).toBe(1);
    const job = await ended(id);
    expect(job).toMatchObject({
      job_type: "hello_world",
      status: "completed",
      stage: 2,
      total_stages: 2,
      parameters,
      error_details: null,
    });
    expect(job.stage_results["1"]!.task_count).toBe(3);
    expect(job.stage_results["2"]!.results.map(({ result }) => result)).toEqual(
      [0, 1, 2].map((index) => ({ index, reply: `Replying to: Hi from task ${index}` })),
    );
    const tasks = (await call("GET", `/api/jobs/tasks/${id}?stage=2`)).body.items;
    expect(tasks.map(({ task_id, status, stage }) => [task_id, status, stage])).toEqual(
      [0, 1, 2].map((index) => [`${id.slice(0, 8)}-s2-${index}`, "completed", 2]),
    );
    const again = await call("POST", "/api/jobs/submit/hello_world", { message: "Hi" });
    expect([again.status, again.body.created, again.body.status]).toEqual([
      200,
      false,
      "completed",
    ]);
  });

  it("fans out over what a stage found, aggregates, and updates the catalogue", async () => {
    const parameters = { container: "bronze", prefix: "files/", collection_id: "files" };
    const { body } = await call("POST", "/api/jobs/submit/catalog_files", parameters);
    const job = await ended(body.job_id);
    expect(job).toMatchObject({
      status: "completed",
      stage: 4,
      total_stages: 4,
      result_data: {
        collection_id: "files",
        summary: { total_files: 2, total_size_mb: 4096 / 1024 / 1024 },
      },
    });
    const tasks = (await call("GET", `/api/jobs/tasks/${body.job_id}?stage=2`)).body.items;
    expect(tasks.map(({ task_index }) => task_index)).toEqual(["files/a.txt", "files/b.txt"]);
    const collection = await fetch(`${orchestrator.url}/stac/collections/files`);
    expect(((await collection.json()) as JsonObject)["description"]).toContain("total_files 2");

    const listing = await call("POST", "/api/jobs/submit/list_container_contents", {
      container: "bronze",
      prefix: "files/",
    });
    expect((await ended(listing.body.job_id)).stage_results["2"]!.results).toMatchObject([
      { result: { file_name: "files/a.txt", file_size: 1024 } },
      { result: { file_name: "files/b.txt", file_size: 3072 } },
    ]);
  });

  it("fails with its first failed task, and says which type there is", async () => {
    const missing = { container: "bronze", prefix: "files/", collection_id: "no/slash" };
    expect((await call("POST", "/api/jobs/submit/catalog_files", missing)).status).toBe(400);
    const unknown = await call("POST", "/api/jobs/submit/process_raster", {});
    expect([unknown.status, JSON.stringify(unknown.body)]).toEqual([
      404,
      expect.stringContaining("catalog_files, hello_world, list_container_contents"),
    ]);
  });

  it("are reached at the earlier addresses as well", async () => {
    const submitted = await call("POST", "/api/dag/submit", {
      workflow_id: "echo_test",
      inputs: { message: "earlier" },
    });
    const id = submitted.body.job_id;
    await finished(orchestrator, id, slow);
    expect((await call("GET", `/api/dag/jobs/${id}`)).body.status).toBe("completed");
    expect((await call("GET", `/api/dag/jobs/${id}/nodes`)).body.items.length).toBe(3);
    expect((await call("POST", `/api/dag/jobs/${id}/cancel`, {})).status).toBe(409);
    expect((await call("GET", "/api/health")).status).toBe(200);
  });
});
