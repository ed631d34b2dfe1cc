/** Every workflow of workflows/ is run by real programs, here or in the test that is named here. */
import { readFile, readdir } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { JsonObject } from "../../src/core/model/json.ts";
import { createTestDatabase } from "../support/database.ts";
import { Fleet, finished, submit } from "../support/programs.ts";
import { expectReplay } from "../support/replay.ts";

const resultOf = (job: { result_data: unknown }) => job.result_data as Record<string, JsonObject>;

const runIn: Readonly<Record<string, string>> = {
  adf_export: "gateway-lifecycle",
  adf_withdraw: "gateway-lifecycle",
  export_layer: "export",
  catalog_files: "reference",
  catalog_reference: "catalogue-workflows",
  checkpoint_test: "shipped-workflows",
  conditional_test: "shipped-workflows",
  data_pipeline_test: "shipped-workflows",
  detect_orphans: "catalogue-workflows",
  echo_test: "shipped-workflows",
  fan_out_test: "shipped-workflows",
  fathom_flood: "h3",
  h3_connectivity: "h3",
  h3_raster_aggregation: "h3",
  h3_vector_aggregation: "h3",
  h3_weighted_aggregation: "h3",
  hello_world: "shipped-workflows",
  hello_world_stages: "reference",
  inspect_file: "cli-files",
  list_container_contents: "reference",
  raster_collection: "raster",
  raster_ingest: "raster",
  raster_process: "raster",
  raster_tiled_processing: "raster",
  rebuild_stac: "catalogue-workflows",
  repair_stac_items: "catalogue-workflows",
  retry_fan_out_test: "shipped-workflows",
  retry_test: "shipped-workflows",
  stac_catalog_container: "catalogue-workflows",
  unpublish_raster: "catalogue-workflows",
  unpublish_vector: "catalogue-workflows",
  unpublish_version: "gateway-governed",
  vector_etl: "vector-files",
  zonal_statistics: "raster",
};

describe("the workflows that ship", () => {
  it("are each run by a test", async () => {
    const files = await readdir(path.resolve(import.meta.dirname, "../../workflows"));
    expect(files.map((file) => file.replace(/\.yaml$/, "")).toSorted()).toEqual(
      Object.keys(runIn).toSorted(),
    );
    for (const [workflow, test] of Object.entries(runIn)) {
      const file = path.join(import.meta.dirname, `${test}.test.ts`);
      expect([workflow, (await readFile(file, "utf8")).includes(workflow)]).toEqual([
        workflow,
        true,
      ]);
    }
  });

  it("run to their end as real programs, and their events replay", async () => {
    const database = await createTestDatabase();
    const fleet = new Fleet(database.url);
    onTestFinished(async () => {
      await fleet.stop();
      await database.drop();
    });
    const orchestrator = await fleet.orchestrator();
    await fleet.worker();
    const jobs = await Promise.all(
      [
        ["hello_world", {}],
        ["echo_test", { message: "hello" }],
        ["data_pipeline_test", { dataset: "rivers" }],
        ["fan_out_test", {}],
        ["fan_out_test", { item_list: [] }],
        ["conditional_test", { size_mb: 500, kind: "vector" }],
        ["conditional_test", {}],
        ["checkpoint_test", {}],
        ["retry_test", {}],
        ["retry_fan_out_test", {}],
      ].map(async ([workflow, inputs]) => {
        const id = await submit(orchestrator, workflow as string, inputs as JsonObject);
        return { workflow, ...(await finished(orchestrator, id)) };
      }),
    );
    for (const job of jobs) {
      expect([job.workflow, job.status, job.error], JSON.stringify(job.error)).toEqual([
        job.workflow,
        "completed",
        null,
      ]);
      await expectReplay(database.db, job.job_id);
    }
    expect(resultOf(jobs[1]!)).toMatchObject({ _provenance: { workflow_id: "echo_test" } });
    expect(resultOf(jobs[2]!)).toMatchObject({ loaded: "RIVERS", rows: 3 });
    expect(resultOf(jobs[3]!)["aggregate"]).toMatchObject({ count: 3 });
    expect(resultOf(jobs[4]!)["aggregate"]).toEqual({ results: [], count: 0 });
    const retried = await orchestrator.client.getNode({
      params: { job_id: jobs[8]!.job_id, node_id: "flaky" },
    });
    expect(retried).toMatchObject({ attempt: 2, retry_count: 2 });
  });
});
