import { readdir } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TestDatabase } from "../../../test/support/database.ts";
import { createTestDatabase } from "../../../test/support/database.ts";
import { temporaryFolders } from "../../../test/support/embedded.ts";
import { TestEngine } from "../../../test/support/engine.ts";
import { findJob } from "../../adapters/postgres/queries/jobs.ts";
import { createLocalStorage } from "../../adapters/storage/local-storage.ts";
import { readValue, resolveReferences, storeValue } from "../../adapters/storage/stored-values.ts";
import { handlerCatalogue } from "../../core/handlers/index.ts";
import type { TaskMessage } from "../../core/messages.ts";
import type { Json, JsonObject } from "../../core/model/json.ts";
import type { ValueReference } from "../../core/model/value-reference.ts";
import { retryJob } from "../jobs/rerun-job.ts";

const workflows: Record<string, string> = {
  tiles: `
inputs: { tiles: { type: array, required: true } }
nodes:
  cut:
    type: fan_out
    source: "{{ inputs.tiles }}"
    task: { handler: echo, params: { tile: "{{ item }}" } }
    next: gather
  gather: { type: fan_in, next: mosaic }
  mosaic: { handler: echo, params: { results: "{{ nodes.gather.output.results }}", n: 1 } }
outputs: { tiles: "{{ nodes.gather.output.results }}" }`,
  shared: `
nodes:
  list: { handler: echo, next: each }
  each:
    type: fan_out
    source: "{{ nodes.list.output.items }}"
    task:
      handler: echo
      params: { all: "{{ nodes.list.output.large }}", wrapped: { again: "{{ nodes.list.output.large }}" }, i: "{{ index }}" }`,
  direct: `
nodes:
  a: { handler: echo, next: both }
  b: { handler: echo, next: both }
  both: { type: fan_in, next: choose }
  choose:
    type: conditional
    condition_field: "{{ nodes.both.output }}"
    branches: [{ condition: "is null", next: END }, { default: true, next: use }]
  use: { handler: echo, params: { one: "{{ nodes.both.output.results[0].text }}", two: "{{ nodes.both.output.results[1].text }}" } }`,
  many: `
inputs: { text: { type: string } }
nodes:
  a: { handler: echo, params: { a: "{{ inputs.text }}", b: "{{ inputs.text }} ", c: "x{{ inputs.text }}" }, retry: { max_attempts: 0 } }`,
  text: `
nodes:
  a: { handler: echo, next: b }
  b: { handler: echo, params: { note: "as text: {{ nodes.a.output.list }}" } }`,
  outputs: `
nodes:
  a: { handler: echo }
outputs: { first: { list: ["{{ nodes.a.output.list }}"] }, second: "{{ nodes.a.output.none }}" }`,
};

describe("large values in the engine", () => {
  let database: TestDatabase;
  let engine: TestEngine;
  const folders = temporaryFolders();

  beforeAll(async () => {
    database = await createTestDatabase();
    const files = Object.entries(workflows).map(([id, text]) => [`${id}.yaml`, text] as const);
    engine = await TestEngine.create(database, await folders.makeWith(Object.fromEntries(files)));
  });
  afterAll(async () => {
    await engine.close();
    await database.drop();
    await folders.remove();
  });

  const storage = () => createLocalStorage(engine.folder);
  /** Parameters as the worker gives them to a handler. */
  const whole = async (message: TaskMessage | undefined) =>
    (await resolveReferences(storage(), message?.params ?? {})) as JsonObject;
  const bodySize = (message: TaskMessage | undefined) => JSON.stringify(message).length;
  const rowSizes = async (jobId: string) => {
    const { rows } = await database.db.query<{ size: number }>(
      `SELECT max(octet_length(coalesce(output::text, '') || coalesce(input_params::text, '')))
         AS size FROM dagapp.dag_node_states WHERE job_id = $1`,
      [jobId],
    );
    return rows[0]!.size;
  };

  it("passes the results of a fan-out to the next task and to the outputs", async () => {
    const tiles = Array.from({ length: 1000 }, (_, index) => ({ name: `tile-${index}` }));
    const { job_id } = await engine.submit("tiles", { tiles });
    const outputs: Json[] = [];
    const done = (await engine.take(job_id)).map((message) => {
      const output = { tile: message.params["tile"]!, statistics: "0123456789".repeat(200) };
      outputs[Number(message.node_id.slice("cut__".length))] = output;
      return { message, output };
    });
    await engine.completeAll(done);
    await engine.tick();
    const [mosaic] = await engine.take(job_id);
    expect(mosaic?.params["results"]).toMatchObject({ $ref: expect.any(String) as string });
    expect(bodySize(mosaic)).toBeLessThan(2000);
    expect(await whole(mosaic)).toEqual({ results: outputs, n: 1 });
    await engine.complete(mosaic!, {});
    await engine.tick();
    const job = await engine.job(job_id);
    expect(job.status).toBe("completed");
    const shown = await findJob(database.db, job_id);
    const { _provenance, ...reference } = shown!.result_data!;
    const result = await readValue(storage(), reference as ValueReference);
    expect(result).toEqual({ tiles: outputs, _provenance });
    expect(await rowSizes(job_id)).toBeLessThan(256 * 1024);
    await engine.expectReplay(job_id);
  });

  it.each([
    ["tiles", "raster.stac_register_item"],
    ["single", "raster_mosaic"],
  ])("raster_process passes 5,000 tiles on, for %s", async (output, handler) => {
    const shipped = await TestEngine.create(database, "workflows");
    const inputs = { blob_path: "a.tif", collection_id: "c", tiles_per_task: 50, output };
    const { job_id } = await shipped.submit("raster_process", inputs);
    const batches = Array.from({ length: 100 }, (_, batch) =>
      Array.from({ length: 50 }, (_, index) => ({ index: 50 * batch + index })),
    );
    const tileOf = (index: Json) => ({
      blob_path: `silver/tile-${JSON.stringify(index)}.tif`,
      facts: { statistics: "0123456789".repeat(40) },
    });
    const first: Record<string, JsonObject> = {
      validate: { raw_size_mb: 50_000, raster_type: "continuous", blob_path: "a.tif" },
      ensure_collection: {},
      generate_tiles: { batches },
    };
    for (const [nodeId, output] of Object.entries(first)) {
      const [message] = await shipped.take(job_id);
      expect(message?.node_id).toBe(nodeId);
      await shipped.complete(message!, output);
      await shipped.tick();
    }
    const done = (await shipped.take(job_id)).map((message) => {
      const tiles = (message.params["tiles"] as { index: number }[]).map((tile) =>
        tileOf(tile.index),
      );
      return { message, output: { tiles, count: tiles.length } };
    });
    await shipped.completeAll(done);
    await shipped.tick();
    const [next] = await shipped.take(job_id);
    expect(next?.handler).toBe(handler);
    const given = (await resolveReferences(
      createLocalStorage(shipped.folder),
      next!.params,
    )) as JsonObject;
    expect(given["tiles"]).toEqual(batches.flat().map(({ index }) => tileOf(index)));
    const { params } = handlerCatalogue.get(handler)!;
    if (handler === "raster_mosaic") expect(params.safeParse(given).success).toBe(true);
    await shipped.close();
  });

  it("stores a value that all children share once", async () => {
    const { job_id } = await engine.submit("shared");
    const [list] = await engine.take(job_id);
    const large = Array.from({ length: 50_000 }, (_, index) => `element ${index}`);
    const items = Array.from({ length: 2000 }, (_, index) => index);
    const stored = await storeValue(storage(), job_id, JSON.stringify({ items, large }));
    await engine.complete(list!, stored);
    await engine.tick();
    const children = await engine.take(job_id);
    expect(children).toHaveLength(2000);
    expect(await whole(children[77])).toMatchObject({ all: large, wrapped: { again: large } });
    // The output of the node and the shared value.
    expect(await readdir(path.join(engine.folder, "results", job_id))).toHaveLength(2);
  });

  it("keeps large outputs of nodes that the orchestrator settles out of the rows", async () => {
    const { job_id } = await engine.submit("direct");
    const texts = ["a".repeat(200_000), "b".repeat(200_000)];
    for (const [index, message] of (await engine.take(job_id)).entries()) {
      await engine.complete(message, { text: texts[index]! });
    }
    await engine.tick();
    const [use] = await engine.take(job_id);
    expect(await whole(use)).toEqual({ one: texts[0], two: texts[1] });
    // Two values that are small alone are too much together.
    expect(bodySize(use)).toBeLessThan(256 * 1024);
    expect(await rowSizes(job_id)).toBeLessThan(256 * 1024);
  });

  it("stores large parameters of a first task, and a retry sends the same references", async () => {
    const text = "é".repeat(300_000);
    const { job_id } = await engine.submit("many", { text });
    const [first] = await engine.take(job_id);
    const params = { a: text, b: text, c: `x${text}` };
    expect(await whole(first)).toEqual(params);
    expect(await rowSizes(job_id)).toBeLessThan(256 * 1024);
    await engine.fail(first!, { category: "permanent" });
    await engine.tick();
    const again = await retryJob(engine.deps, job_id);
    const [second] = await engine.take(again.job_id);
    expect(await whole(second)).toEqual(params);
  });

  it("names parameter, size and limit of a value that is too large", async () => {
    const { job_id } = await engine.submit("text");
    const [a] = await engine.take(job_id);
    const list = Array.from({ length: 200_000 }, () => "1234567");
    await engine.complete(a!, await storeValue(storage(), job_id, JSON.stringify({ list })));
    await engine.tick();
    expect(await engine.job(job_id)).toMatchObject({
      error_code: "TEMPLATE_FAILED",
      error_message:
        'parameter "note": a text of 2000002 characters is longer than a template may build ' +
        "(1048576); insert the value whole, with nothing around its {{ }}",
    });
  });

  it("names the output whose template fails", async () => {
    const { job_id } = await engine.submit("outputs");
    const [a] = await engine.take(job_id);
    await engine.complete(a!, { list: [] });
    await engine.tick();
    const { error_message } = await engine.job(job_id);
    expect(error_message).toContain("output \"second\": nodes.a.output has no 'none'");
  });

  it("refuses to collect more than 64 MiB without reading it", async () => {
    const { job_id } = await engine.submit("tiles", { tiles: [0, 1, 2, 3, 4] });
    for (const message of await engine.take(job_id)) {
      // Nothing is stored there, so reading one of them would fail differently.
      await engine.complete(message, {
        $ref: `results/none/${message.task_id}.json`,
        bytes: 16 * 1024 * 1024,
        sha256: "0",
      });
    }
    await engine.tick();
    expect(await engine.job(job_id)).toMatchObject({
      status: "failed",
      failed_node_id: "gather",
      error_code: "OUTPUT_TOO_LARGE",
      error_message:
        "the outputs of cut have at least 83886080 bytes, and a fan_in collects at most 67108864; " +
        "collect one member of them with `field`, or let the tasks return where the data is",
    });
  });

  it("takes no reference that a user made up", async () => {
    const made = await storeValue(storage(), "other-job", JSON.stringify({ private: true }));
    const forged: Json = { $ref: made.$ref, bytes: made.bytes, sha256: "0".repeat(64) };
    await expect(resolveReferences(storage(), { forged })).rejects.toThrow(
      "does not have the hash",
    );
    for (const data of [
      { $ref: made.$ref },
      { $ref: made.$ref, bytes: made.bytes, sha256: made.sha256, more: 1 },
      { $ref: "#/definitions/tile", bytes: 1, sha256: "x" },
    ]) {
      expect(await resolveReferences(storage(), { data })).toEqual({ data });
    }
  });
});
