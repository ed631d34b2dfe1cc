import { describe, expect, it } from "vitest";
import { z } from "zod";
import { handlerCatalogue } from "./index.ts";
import { jobQueue, taskQueues } from "../queues.ts";

describe("the handler catalogue", () => {
  it("holds the handlers that existing workflows name", () => {
    const named = [
      "echo",
      "hello_world",
      "sleep",
      "fail",
      "flaky_echo",
      "multi_phase",
      "size_check",
      "chunk_processor",
      "probe",
      "raster.validate",
      "raster.create_cog",
      "raster.blob_to_mount",
      "raster.generate_tiling_scheme",
      "raster.process_tile",
      "raster.process_tile_batch",
      "raster.check_homogeneity",
      "raster_reproject",
      "raster_clip",
      "raster_mosaic",
      "raster.stac_ensure_collection",
      "raster.stac_register_item",
      "raster.stac_register_items",
      "stac.list_rasters",
      "stac.find_item",
      "stac.delete_item",
      "stac.delete_files",
      "stac.drop_tables",
      "stac.detect_orphans",
      "stac.list_items",
      "stac.rebuild_items",
      "stac.repair_items",
      "vector_prepare",
      "vector_upload_chunk",
      "vector_publish",
      "vector_create_stac",
      "vector_simplify",
      "vector_dissolve",
      "vector_export",
    ];
    expect(named.filter((name) => !handlerCatalogue.has(name))).toEqual([]);
  });

  it.each([...handlerCatalogue.values()])("$name goes to a task queue and can be shown", (each) => {
    expect(taskQueues).toContain(each.queue);
    expect(taskQueues).not.toContain(jobQueue);
    expect(z.toJSONSchema(each.params, { io: "input" })).toMatchObject({ type: "object" });
    expect(z.toJSONSchema(each.result)).toBeTypeOf("object");
  });

  it("takes anything to echo, and only a size or a path to measure", () => {
    const accepts = (name: string, params: object): boolean =>
      handlerCatalogue.get(name)!.params.safeParse(params).success;
    expect(accepts("echo", { any: [{ thing: null }] })).toBe(true);
    expect(accepts("size_check", { size_mb: 3 })).toBe(true);
    expect(accepts("size_check", { size_mb: 3, path: "a.tif" })).toBe(false);
    expect(accepts("raster.stac_register_item", { collection_id: "c", blob_path: null })).toBe(
      false,
    );
  });
});
