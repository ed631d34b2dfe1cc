/** Handlers of the example jobs of stages. */
import { z } from "zod";
import { jsonObject } from "../model/json.ts";
import { queueFor } from "../queues.ts";
import { defineContract } from "./contract.ts";
import { blobPath, container, identifier } from "./geospatial.ts";

const index = z.number().int().min(0);

const greeting = defineContract({
  name: "hello_world_greeting",
  description: "Greets, and hands its greeting on to the task of the next stage.",
  params: z.strictObject({ index: index.default(0), message: z.string().max(1024).nullish() }),
  result: z.object({
    index,
    greeting: z.string(),
    next_stage_params: z.object({ index, greeting: z.string() }),
  }),
  queue: queueFor.light,
  timeout_seconds: 60,
});

const reply = defineContract({
  name: "hello_world_reply",
  description: "Answers the greeting of the stage before it.",
  params: z.strictObject({ index: index.default(0), greeting: z.string().max(2048) }),
  result: z.object({ index, reply: z.string() }),
  queue: queueFor.light,
  timeout_seconds: 60,
});

const listFiles = defineContract({
  name: "list_container_files",
  description: "Lists the files of a container.",
  params: z.strictObject({
    container,
    prefix: z.string().max(1024).default(""),
    extensions: z.array(z.string().regex(/^\.[a-z0-9]+$/)).nullish(),
    limit: z.number().int().min(1).max(10_000).default(1000),
  }),
  result: z.object({
    container: z.string(),
    files: z.array(z.string()),
    count: z.number().int(),
    /** True if there are more than the limit. */
    truncated: z.boolean(),
  }),
  queue: queueFor.light,
  timeout_seconds: 600,
});

const processFile = defineContract({
  name: "process_file",
  description: "Reads a file once: its size and the hash of its content.",
  params: z.strictObject({ file_name: blobPath, container: container.nullish() }),
  result: z.object({
    file_name: z.string(),
    file_size: z.number().int(),
    content_hash: z.string(),
  }),
  queue: queueFor.light,
  timeout_seconds: 1800,
});

const aggregateResults = defineContract({
  name: "aggregate_results",
  description: "Counts the results of the stage before it, and adds up the sizes in them.",
  params: z.strictObject({ previous_results: z.array(z.looseObject({ result: jsonObject })) }),
  result: z.object({
    summary: z.object({ total_files: z.number().int(), total_size_mb: z.number() }),
  }),
  queue: queueFor.light,
  timeout_seconds: 300,
});

const updateCatalog = defineContract({
  name: "update_catalog",
  description: "Creates a collection, or describes it anew by the summary of its files.",
  params: z.strictObject({
    collection_id: identifier,
    title: z.string().max(255).nullish(),
    summary: jsonObject,
  }),
  result: z.object({ collection_id: identifier, created: z.boolean(), description: z.string() }),
  queue: queueFor.light,
  timeout_seconds: 120,
});

export const stageContracts = [
  greeting,
  reply,
  listFiles,
  processFile,
  aggregateResults,
  updateCatalog,
] as const;
