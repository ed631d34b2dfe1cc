/** Handlers of the example jobs of stages: hello_world, container listing, and the catalogue of files. */
import { stat } from "node:fs/promises";
import { ownerOfJob } from "../../adapters/postgres/queries/catalogue-owners.ts";
import { upsertCollection } from "../../adapters/postgres/repositories/catalogue.ts";
import { buildCollection } from "../../core/catalogue/collection.ts";
import { defineHandler } from "../define-handler.ts";
import { hashFile } from "./hash-content.ts";
import { openSource } from "./raster/open-source.ts";
import { requireDatabase } from "./require-database.ts";
import { listPaths } from "./stac/list-items-rasters.ts";

export const greeting = defineHandler("hello_world_greeting", async ({ index, message }) => {
  const text = `${message ?? "Hello"} from task ${index}`;
  return { index, greeting: text, next_stage_params: { index, greeting: text } };
});

export const reply = defineHandler("hello_world_reply", async ({ index, greeting: text }) => ({
  index,
  reply: `Replying to: ${text}`,
}));

export const listFiles = defineHandler("list_container_files", async (params, context) => {
  const { container, prefix, extensions, limit } = params;
  const files: string[] = [];
  for await (const page of listPaths(context, `${container}/${prefix}`)) {
    const wanted = page.filter(
      (path) => extensions == null || extensions.some((each) => path.toLowerCase().endsWith(each)),
    );
    files.push(...wanted.map((path) => path.slice(container.length + 1)));
    if (files.length > limit) break;
  }
  const kept = files.slice(0, limit);
  return { container, files: kept, count: kept.length, truncated: files.length > limit };
});

export const processFile = defineHandler("process_file", async (params, context) => {
  const { file_name, container } = params;
  const { file } = await openSource(context, { blob_path: file_name, container });
  const content_hash = await hashFile(file, context.signal);
  const { size } = await stat(file);
  return { file_name, file_size: size, content_hash };
});

const megabyte = 1024 * 1024;

export const aggregateResults = defineHandler("aggregate_results", async ({ previous_results }) => {
  const sizes = previous_results.map(({ result }) => Number(result["file_size"] ?? 0));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  return {
    summary: { total_files: previous_results.length, total_size_mb: total / megabyte },
  };
});

export const updateCatalog = defineHandler("update_catalog", async (params, context) => {
  const { collection_id, title, summary } = params;
  const database = requireDatabase(context);
  const facts = Object.entries(summary).map(([name, value]) => `${name} ${JSON.stringify(value)}`);
  const description = `Files of a container: ${facts.join(", ")}.`;
  const owner = await ownerOfJob(database, context.job_id);
  const collection = buildCollection({ collection_id, title, description, license: "other" });
  const { created } = await upsertCollection(database, collection, owner);
  return { collection_id, created, description };
});
