/** Whole jobs on workers without GDAL's programs, or with a full disk. */
import { execFileSync } from "node:child_process";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { inspectCog } from "../../src/adapters/cog/inspect-cog.ts";
import { createLocalStorage } from "../../src/adapters/storage/local-storage.ts";
import type { Storage } from "../../src/adapters/storage/storage.ts";
import type { TestDatabase } from "../support/database.ts";
import { createTestDatabase } from "../support/database.ts";
import { makeWorkflowFolder } from "../support/domain.ts";
import { fixture } from "../support/fixtures.ts";
import { hasGdal } from "../support/gdal.ts";
import { ringsFile } from "../support/layers.ts";
import type { Orchestrator, Program } from "../support/programs.ts";
import { Fleet, finished, submit } from "../support/programs.ts";
import { waitFor } from "../support/wait.ts";

const slow = 240_000;
let database: TestDatabase;
let fleet: Fleet;
let orchestrator: Orchestrator;
let storage: Storage;
let folder: Awaited<ReturnType<typeof makeWorkflowFolder>>;

/** Steps of the real workflows, tried once: a full disk is worth trying again, and here it stays full. */
const fullDisk = `
workflow_id: full_disk
name: Steps that need room
version: "1.0"
inputs:
  handler: { required: true }
  blob_path: { required: true }
nodes:
  choose:
    type: conditional
    condition: "{{ inputs.handler }} == raster"
    on_true: raster
    on_false: vector
  raster:
    handler: raster.create_cog
    params: { blob_path: "{{ inputs.blob_path }}", target_crs: "EPSG:4326" }
    retry: { max_attempts: 0 }
  vector:
    handler: vector_prepare
    params: { blob_path: "{{ inputs.blob_path }}" }
    retry: { max_attempts: 0 }
`;

beforeAll(async () => {
  database = await createTestDatabase();
  folder = await makeWorkflowFolder();
  await writeFile(path.join(folder.folder, "full_disk.yaml"), fullDisk);
  fleet = new Fleet(database.url, folder.folder);
  orchestrator = await fleet.orchestrator();
  storage = createLocalStorage(path.join(fleet.dataDirectory, "storage"));
  for (const name of ["crs_without_code.tif", "jpeg_cog.tif", "rgb_utm18_nodata0.tif"]) {
    await storage.putFile(`bronze/${name}`, fixture(`raster/${name}`));
  }
}, slow);
afterAll(async () => {
  await fleet.stop();
  await database.drop();
  await folder.remove();
});

async function withWorker<T>(env: Record<string, string>, use: () => Promise<T>): Promise<T> {
  const worker: Program = await fleet.worker(env);
  try {
    return await use();
  } finally {
    worker.signal("SIGTERM");
    await worker.gone;
  }
}

describe("raster_ingest without an installed GDAL", () => {
  it(
    "makes, checks, registers and shows a layer, and refuses a codec that it lacks",
    async () => {
      await withWorker({ GDAL_ENGINE: "wasm", WORKER_CONCURRENCY: "2" }, async () => {
        const collection_id = "wasm";
        const [made, refused] = await Promise.all(
          ["crs_without_code.tif", "jpeg_cog.tif"].map(async (name) => {
            const inputs = { blob_path: `bronze/${name}`, collection_id };
            return finished(
              orchestrator,
              await submit(orchestrator, "raster_ingest", inputs),
              slow,
            );
          }),
        );
        expect([made!.status, made!.error]).toEqual(["completed", null]);
        expect(made!.result_data).toMatchObject({ action: "encode", verdict: "warning" });
        for (const key of ["blob_path", "visual_path"]) {
          const file = await storage.localPath(made!.result_data![key] as string);
          expect(await inspectCog(file!)).toMatchObject({ valid: true, errors: [] });
        }
        const item = `${orchestrator.url}/stac/collections/wasm/items/${made!.result_data!["item_id"] as string}`;
        const software = (await (await fetch(item)).json()) as {
          properties: { "processing:software": { GDAL: string } };
        };
        expect(software.properties["processing:software"].GDAL).toMatch(/^3\./);
        const preview = await fetch(`${item}/preview?max_size=64&format=png`);
        expect([preview.status, preview.headers.get("content-type")]).toEqual([200, "image/png"]);

        expect([refused!.status, refused!.error?.code]).toEqual(["failed", "CODEC_NOT_SUPPORTED"]);
        expect(refused!.error?.message).toMatch(/run a worker whose GDAL has it/);
      });
    },
    slow,
  );
});

/** A disk of its own that is really full. Mounting needs root, and not every container lets it. */
function mountSmall(folder: string, megabytes: number): boolean {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return false;
  try {
    const options = `size=${megabytes}m`;
    execFileSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", folder], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

describe("a worker whose disk is full", () => {
  it.for(["native", "wasm"])(
    "fails the node with that reason, and leaves nothing behind: %s",
    { timeout: slow },
    async (GDAL_ENGINE, { skip }) => {
      const work = path.join(fleet.dataDirectory, "work");
      await mkdir(work, { recursive: true });
      skip(GDAL_ENGINE === "native" && !hasGdal, "this machine lacks GDAL");
      skip(!mountSmall(work, 3), "this machine does not let the tests mount a disk");
      try {
        const bronze = path.join(fleet.dataDirectory, "storage/bronze");
        await writeFile(path.join(bronze, "rings.geojson"), ringsFile());
        await withWorker({ GDAL_ENGINE, WORKER_CONCURRENCY: "1" }, async () => {
          const jobs = [
            // Both ask before they begin, because they need a multiple of what they read.
            { handler: "raster", blob_path: "bronze/rgb_utm18_nodata0.tif" },
            { handler: "vector", blob_path: "bronze/rings.geojson" },
          ];
          for (const inputs of jobs) {
            const id = await submit(orchestrator, "full_disk", inputs);
            const job = await finished(orchestrator, id, slow);
            expect([job.status, job.error?.code]).toEqual(["failed", "DISK_FULL"]);
            expect(job.error?.message).toMatch(/MiB of disk|disk is full/);
          }
          await waitFor(
            async () => {
              const inner = await Promise.all(
                (await readdir(work)).map((name) => readdir(path.join(work, name))),
              );
              return inner.flat().length === 0;
            },
            { what: "an empty work folder" },
          );
        });
      } finally {
        execFileSync("umount", ["-l", work]);
      }
    },
  );
});
