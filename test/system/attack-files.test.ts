/**
 * Files that try to make GDAL read a file of the machine or call a server, through every shipped
 * workflow that takes files, on both engines. Each is refused with a finding, or taken without what
 * it names; the canary file and the canary server stay unread.
 */
import { mkdir, mkdtemp, readFile, readdir, rm, stat, utimes, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import pLimit from "p-limit";
import { Upload } from "tus-js-client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/core/model/json.ts";
import { attackPaths, plainTiff, rasterAttacks, vectorAttacks } from "../support/attack-files.ts";
import type { Attack, Canary } from "../support/attack-files.ts";
import { documentAttacks, gridAttacks } from "../support/attack-formats.ts";
import type { TestDatabase } from "../support/database.ts";
import { createTestDatabase } from "../support/database.ts";
import { hasGdal } from "../support/gdal.ts";
import { Fleet, finished, submit } from "../support/programs.ts";
import type { Orchestrator } from "../support/programs.ts";

const slow = 240_000;
const token = "canary-c0ffee-of-the-machine";
/** Older than the file's content: a file system that records reads then replaces it. */
const neverRead = new Date("2001-01-01T00:00:00Z");
const rasterWorkflows = [
  "raster_ingest",
  "raster_process",
  "raster_collection",
  "raster_tiled_processing",
] as const;

let database: TestDatabase;
let fleet: Fleet;
let orchestrator: Orchestrator;
let server: Server;
let outside: string;
let canary: Canary;
let attacks: { raster: readonly Attack[]; vector: readonly Attack[] };
const calls: string[] = [];

beforeAll(async () => {
  outside = await mkdtemp(path.join(tmpdir(), "rmhdag-canary-"));
  server = createServer((request, response) => {
    calls.push(request.url ?? "");
    response.end(token);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  canary = { file: path.join(outside, "secret.txt"), url: `http://127.0.0.1:${port}` };
  await writeFile(canary.file, `${token}\n`.repeat(4000));
  await utimes(canary.file, neverRead, new Date());
  database = await createTestDatabase();
  fleet = new Fleet(database.url);
  orchestrator = await fleet.orchestrator();
  const plain = { name: "plain", files: { "a.tif": plainTiff() }, code: undefined };
  attacks = {
    raster: [plain, ...rasterAttacks(canary), ...gridAttacks(canary)],
    vector: [...vectorAttacks(canary), ...documentAttacks(canary)],
  };
  const [overview] = rasterAttacks(canary);
  const flood = { "1in5_n49e010.tif": overview!.files["a.tif"]! };
  const beside = { name: "flood", files: flood, code: undefined };
  for (const { name, files } of [...attacks.raster, ...attacks.vector, beside]) {
    const folder = path.join(fleet.dataDirectory, "storage/bronze/attacks", name);
    await mkdir(folder, { recursive: true });
    for (const [file, bytes] of Object.entries(files)) {
      await writeFile(path.join(folder, file), bytes);
    }
  }
}, slow);
afterAll(async () => {
  await fleet.stop();
  await database.drop();
  await new Promise((resolve) => server.close(resolve));
  await rm(outside, { recursive: true, force: true });
});

/** More jobs at once would not keep the worker busier, and each is asked for its end meanwhile. */
const atOnce = pLimit(12);

const run = (workflow: string, inputs: JsonObject) => atOnce(() => runOne(workflow, inputs));

async function runOne(workflow: string, inputs: JsonObject) {
  const job = await finished(orchestrator, await submit(orchestrator, workflow, inputs), slow);
  // What a partner reads: neither the canary nor how the machine is set up.
  const text = JSON.stringify(job);
  expect(text).not.toContain(token);
  expect(text).not.toContain(fleet.dataDirectory);
  return job;
}

/** The codes of the tasks that failed; a job with a fan-out has a code of its own. */
async function reasons(job_id: string): Promise<string[]> {
  const { rows } = await database.db.query<{ code: string }>(
    `SELECT DISTINCT error ->> 'code' AS code FROM dagapp.dag_node_states
     WHERE job_id = $1 AND status = 'failed' AND error ->> 'code' <> 'FAN_OUT_BUDGET'`,
    [job_id],
  );
  return rows.map(({ code }) => code);
}

const pathOf = ({ name, files }: Attack) => `attacks/${name}/${Object.keys(files)[0] ?? ""}`;

/** All of them; a file that is taken costs WebAssembly many seconds, and goes through one. */
function workflowsFor(engine: string, { code, isDisguise = false }: Attack): readonly string[] {
  const isSlow = engine === "wasm" && code === undefined;
  return isSlow || isDisguise ? ["raster_ingest"] : rasterWorkflows;
}

function rasterInputs(workflow: string, attack: Attack, collection_id: string): JsonObject {
  const blob_path = pathOf(attack);
  if (workflow === "raster_collection") {
    return { blob_paths: [blob_path], container: "bronze", collection_id };
  }
  const simple = workflow === "raster_ingest" ? { with_visual: false } : {};
  return { blob_path, container: "bronze", collection_id, ...simple };
}

/** Sends the file by tus, as a person does, and answers the workflow that is suggested for it. */
async function upload({ name, files }: Attack, folder: string) {
  const [[file, content] = ["", ""]] = Object.entries(files);
  const target = `${folder}/${name}/${file}`;
  await new Promise<void>((resolve, reject) => {
    new Upload(Buffer.from(content as Uint8Array), {
      endpoint: `${orchestrator.url}/api/v1/uploads`,
      metadata: { path: target },
      onError: reject,
      onSuccess: () => {
        resolve();
      },
    }).start();
  });
  return orchestrator.client.recogniseFile({ query: { path: target } });
}

async function previewOf(collection_id: string): Promise<Buffer> {
  const items = `${orchestrator.url}/stac/collections/${collection_id}/items`;
  const { features } = (await (await fetch(items)).json()) as { features: { id: string }[] };
  const preview = await fetch(`${items}/${features[0]!.id}/preview?max_size=128&format=png`);
  expect(preview.status).toBe(200);
  return Buffer.from(await preview.arrayBuffer());
}

describe.each(["native", "wasm"])("a worker with GDAL as %s", (GDAL_ENGINE) => {
  it.skipIf(GDAL_ENGINE === "native" && !hasGdal)(
    "reads nothing that a submitted file or a name leads to",
    async () => {
      const worker = await fleet.worker({ GDAL_ENGINE, WORKER_CONCURRENCY: "4" });
      const ends = await Promise.all([
        ...attacks.raster.flatMap((attack) =>
          workflowsFor(GDAL_ENGINE, attack).map(async (workflow) => {
            const collection = `${GDAL_ENGINE}_${workflow}_${attack.name}`;
            const job = await run(workflow, rasterInputs(workflow, attack, collection));
            return { ...attack, workflow, collection, job };
          }),
        ),
        ...attacks.vector.map(async (attack) => {
          const inputs = { blob_path: pathOf(attack), source_crs: "EPSG:4326" };
          const job = await run("vector_etl", { ...inputs, collection_id: GDAL_ENGINE });
          return { ...attack, workflow: "vector_etl", collection: GDAL_ENGINE, job };
        }),
      ]);
      const surprises: string[] = [];
      for (const { name, workflow, job, ...attack } of ends) {
        const code = (GDAL_ENGINE === "wasm" ? attack.codeInWasm : undefined) ?? attack.code;
        const expected = code === undefined ? ["completed"] : ["failed", code];
        const found = [job.status, ...(await reasons(job.job_id))];
        if (found.join() === expected.join()) continue;
        surprises.push(`${name} in ${workflow}: ${found.join()} (${job.error?.message ?? ""})`);
      }
      expect(surprises).toEqual([]);
      for (const workflow of workflowsFor(GDAL_ENGINE, attacks.raster[0]!)) {
        const [plain, beside] = await Promise.all(
          ["plain", "sidecars"].map((name) => previewOf(`${GDAL_ENGINE}_${workflow}_${name}`)),
        );
        expect([workflow, plain?.equals(beside!)]).toEqual([workflow, true]);
      }

      const named = await Promise.all(
        attackPaths(canary).flatMap((blob_path) => [
          run("raster_ingest", { blob_path, collection_id: "named" }),
          run("vector_etl", { blob_path }),
        ]),
      );
      for (const job of named) expect(job.status).toBe("failed");

      const referred = await Promise.all(
        [`${canary.url}/a.tif`, `${canary.url.replace("http", "https")}/item.json`].map((href) =>
          run("catalog_reference", { href }),
        ),
      );
      expect(await Promise.all(referred.map(({ job_id }) => reasons(job_id)))).toEqual([
        ["SOURCE_SCHEME_NOT_ALLOWED"],
        ["SOURCE_HOST_NOT_ALLOWED"],
      ]);

      const uploads = ["overview_inline_vrt", "spatialite_view", "virtual_layer_in_zip"];
      for (const attack of [...attacks.raster, ...attacks.vector]) {
        if (!uploads.includes(attack.name)) continue;
        const { workflow_id, inputs } = await upload(attack, `bronze/tus-${GDAL_ENGINE}`);
        const job = await run(workflow_id ?? "", inputs);
        expect([attack.name, ...(await reasons(job.job_id))]).toEqual([attack.name, attack.code]);
      }

      // The workflows that read a file for another purpose than to publish it.
      const zones = {
        type: "Polygon",
        coordinates: [[...[11, 12, 12, 11, 11].map((x, at) => [x, [48, 48, 49, 49, 48][at]])]],
      } as const;
      const at = (name: string) => `bronze/attacks/${name}`;
      const overview = at("overview_inline_vrt/a.tif");
      const used = [
        ["zonal_statistics", { blob_path: overview, zones }],
        ["zonal_statistics", { blob_path: at("plain/a.tif"), zones_path: at("entity/a.kml") }],
        ["h3_raster_aggregation", { raster: `attack-${GDAL_ENGINE}`, blob_path: overview }],
        [
          "fathom_flood",
          {
            dataset: `attack-${GDAL_ENGINE}`,
            prefix: at("flood/"),
            configuration: { pattern: "1in{return_period}_{tile}.tif", return_periods: [5] },
          },
        ],
      ] as const;
      for (const [workflow, inputs] of used) {
        const job = await run(workflow, inputs as unknown as JsonObject);
        const found = [workflow, job.status, ...(await reasons(job.job_id))];
        expect(found, job.error?.message).toEqual([workflow, "failed", "EXTERNAL_REFERENCE"]);
      }
      const tables = attacks.vector.filter(({ name }) => name.startsWith("parquet_"));
      expect(tables.length).toBeGreaterThan(3);
      for (const { name, code } of tables) {
        const layer = `${name.replaceAll("_", "-")}-${GDAL_ENGINE}`;
        const blob_path = at(`${name}/a.parquet`);
        const configuration = { geometry: "point", bbox: [10, 46, 10.1, 46.1], max_resolution: 3 };
        const job = await run("h3_vector_aggregation", { layer, blob_path, configuration });
        expect([name, ...(await reasons(job.job_id))]).toEqual([name, code]);
      }
      const listed = { container: "bronze", prefix: "attacks/overview" };
      const lists = await Promise.all([
        run("list_container_contents", listed),
        run("catalog_files", { ...listed, collection_id: `${GDAL_ENGINE}_files` }),
      ]);
      expect(lists.map(({ status }) => status)).toEqual(["completed", "completed"]);

      // The files that an operator catalogues as they are: each is described in a batch of its own.
      const container = { container: "bronze", prefix: "attacks/", batch_size: 1 };
      const catalogued = await run("stac_catalog_container", {
        ...container,
        collection_id: `${GDAL_ENGINE}_container`,
      });
      const refusals = await reasons(catalogued.job_id);
      expect(refusals.toSorted()).toEqual([
        "EXTERNAL_REFERENCE",
        "INVALID_FORMAT",
        "SIDECAR_INVALID",
      ]);

      worker.signal("SIGTERM");
      await worker.gone;
      expect(worker.output()).not.toContain(token);
      await expectUnread();
    },
    slow,
  );
});

async function expectUnread(): Promise<void> {
  expect(calls).toEqual([]);
  expect((await stat(canary.file)).atime).toEqual(neverRead);
  const storage = path.join(fleet.dataDirectory, "storage");
  for (const name of await readdir(storage, { recursive: true })) {
    const file = path.join(storage, name);
    if (!(await stat(file)).isFile()) continue;
    expect([name, (await readFile(file)).includes(token)]).toEqual([name, false]);
  }
}
