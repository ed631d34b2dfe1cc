import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Client } from "../../src/core/api/client.ts";
import type { ApiTest } from "../support/api.ts";
import { openApiTest, tokens } from "../support/api.ts";
import { graphOf } from "../support/workflows.ts";

let test: ApiTest;
let client: Client;
let reader: Client;
let make: ApiTest["make"];

const pipeline = graphOf({
  workflow_id: "pipeline",
  nodes: {
    first: { handler: "echo", next: "choose" },
    choose: {
      type: "conditional",
      condition: "inputs.big == true",
      on_true: "split",
      on_false: "small",
    },
    split: {
      type: "fan_out",
      source: [1, 2, 3, 4, 5],
      max_concurrency: 2,
      task: { handler: "echo" },
      next: "join",
    },
    join: { type: "fan_in", aggregation: "collect" },
    small: { handler: "echo" },
  },
});

beforeAll(async () => {
  test = await openApiTest();
  ({ operator: client, reader, make } = test);
  await make.workflow(pipeline, "the text");
});
afterAll(() => test.close());

const refusal = (code: string, status: number) => ({ name: "ApiError", code, status });

describe("submitting", () => {
  it("answers 202 with where the job is, and 200 for the same key again", async () => {
    const send = () =>
      test.api.server.inject({
        method: "POST",
        url: "/api/v1/jobs",
        headers: { authorization: `Bearer ${tokens.operator}` },
        payload: { workflow_id: "echo_test", inputs: { message: "hi" }, idempotency_key: "k1" },
      });
    const first = await send();
    expect(first.statusCode).toBe(202);
    const { job_id } = first.json<{ job_id: string }>();
    expect(first.headers.location).toBe(`/api/v1/jobs/${job_id}`);
    const again = await send();
    expect(again.statusCode).toBe(200);
    expect(again.json()).toMatchObject({ job_id, created: false });
    expect(await client.getJob({ params: { job_id } })).toMatchObject({
      job_id,
      submitted_by: "operator",
      idempotency_key: "k1",
    });
  });

  it("says what is wrong with the inputs and the workflow", async () => {
    await expect(
      client.submitJob({ body: { workflow_id: "echo_test", inputs: { nonsense: 1 } } }),
    ).rejects.toMatchObject(refusal("INVALID_INPUTS", 400));
    await expect(client.submitJob({ body: { workflow_id: "nothing" } })).rejects.toMatchObject(
      refusal("WORKFLOW_NOT_FOUND", 404),
    );
  });

  it("is not for readers", async () => {
    await expect(reader.submitJob({ body: { workflow_id: "echo_test" } })).rejects.toMatchObject(
      refusal("FORBIDDEN", 403),
    );
  });
});

describe("steering", () => {
  it("pauses, resumes, cancels, and refuses what is too late", async () => {
    const { job_id } = await client.submitJob({
      body: { workflow_id: "echo_test", inputs: { message: "x" } },
    });
    const params = { job_id };
    expect(await client.pauseJob({ params })).toMatchObject({ paused: true });
    expect(await client.resumeJob({ params })).toMatchObject({ paused: false });
    await client.cancelJob({ params, body: { reason: "no longer needed" } });
    await test.engine.tick();
    const job = await client.getJob({ params });
    expect(job).toMatchObject({ status: "cancelled", cancel_reason: "no longer needed" });
    await expect(client.pauseJob({ params })).rejects.toMatchObject(refusal("JOB_FINISHED", 409));
    await expect(client.pauseJob({ params: { job_id: "none" } })).rejects.toMatchObject(
      refusal("JOB_NOT_FOUND", 404),
    );
  });

  it("retries what failed as a new job, and runs again from a node", async () => {
    const { job_id } = await client.submitJob({
      body: { workflow_id: "echo_test", inputs: { message: "x" } },
    });
    await expect(client.retryJob({ params: { job_id } })).rejects.toMatchObject(
      refusal("JOB_NOT_FINISHED", 409),
    );
    const [message] = await test.engine.take(job_id);
    await test.engine.fail(message!, { category: "permanent" });
    await test.engine.tick();
    const failed = await client.getJob({ params: { job_id } });
    expect(failed).toMatchObject({ status: "failed", error: { node_id: message!.node_id } });
    const retried = await client.retryJob({ params: { job_id } });
    expect(retried).toMatchObject({ created: true });
    const again = await client.rerunJob({
      params: { job_id },
      body: { from_node: message!.node_id },
    });
    expect(await client.getJob({ params: { job_id: again.job_id } })).toMatchObject({
      rerun_of: job_id,
    });
  });
});

describe("lists", () => {
  it("page through jobs, newest first, without losing or repeating one", async () => {
    // All at one instant: the order then rests on the id, and the cursor must carry both.
    const created_at = new Date("2026-02-03T04:05:06.789Z");
    const made: string[] = [];
    for (let n = 0; n < 7; n++) {
      made.push(await make.job(pipeline, { created_at, correlation_id: "paging" }));
    }
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await reader.listJobs({ query: { correlation_id: "paging", limit: 3, cursor } });
      expect(page.items.length).toBeLessThanOrEqual(3);
      seen.push(...page.items.map(({ job_id }) => job_id));
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
    expect(seen).toEqual([...made].sort().reverse());
  });

  it("filter jobs, and take % and _ in a search as they are", async () => {
    const odd = await make.job(pipeline, {
      status: "failed",
      error_message: "100% wrong_",
      submitted_by: "somebody",
      created_at: new Date("2026-01-05T00:00:00Z"),
    });
    const ids = async (query: Parameters<Client["listJobs"]>[0]) =>
      (await reader.listJobs(query)).items.map(({ job_id }) => job_id);
    expect(await ids({ query: { search: "0% wrong_" } })).toEqual([odd]);
    expect(await ids({ query: { search: "0_ wrong" } })).toEqual([]);
    expect(await ids({ query: { submitted_by: "somebody", status: "failed" } })).toEqual([odd]);
    expect(await ids({ query: { submitted_by: "somebody", status: "running" } })).toEqual([]);
    const window = {
      created_after: "2026-01-04T00:00:00Z",
      created_before: "2026-01-06T00:00:00Z",
    };
    expect(await ids({ query: window })).toEqual([odd]);
  });

  it("refuse a cursor of another list and a limit out of bounds", async () => {
    const query = { cursor: Buffer.from("[1]").toString("base64url") };
    await expect(reader.listJobs({ query })).rejects.toMatchObject({ status: 400 });
    await expect(reader.listJobs({ query: { limit: 501 } })).rejects.toMatchObject({
      status: 400,
      items: [expect.objectContaining({ pointer: "/query/limit" })],
    });
  });

  it("page through nodes and tasks of all jobs", async () => {
    const first_node = { status: "failed", handler: "odd_one", attempt: 2 };
    const job = await make.job(pipeline, {}, { first: first_node });
    await make.job(pipeline, {}, { first: { status: "completed", handler: "odd_one" } });
    const one = await reader.listNodes({ query: { handler: "odd_one", limit: 1 } });
    expect(one.items).toHaveLength(1);
    const two = await reader.listNodes({
      query: { handler: "odd_one", limit: 1, cursor: one.next_cursor! },
    });
    expect(two.items[0]).toMatchObject({ job_id: job, status: "failed", workflow_id: "pipeline" });
    expect(two.next_cursor).toBeNull();

    for (let n = 0; n < 3; n++) await make.result(job, "first", n, { worker_id: "w9" });
    const first = await reader.listTasks({ query: { worker_id: "w9", limit: 2 } });
    const rest = await reader.listTasks({
      query: { worker_id: "w9", limit: 2, cursor: first.next_cursor! },
    });
    const found = [...first.items, ...rest.items].map(({ task_id }) => task_id);
    expect(found.sort()).toEqual([0, 1, 2].map((n) => `${job}_first_${n}`));
  });
});

describe("a node", () => {
  it("runs when a worker holds its message, although its row says dispatched", async () => {
    const job_id = await make.job(pipeline, {}, { first: { status: "dispatched" } });
    await make.lease(job_id, "first", { progress_percent: 40, progress_message: "half way" });
    const params = { job_id, node_id: "first" };
    expect(await reader.getNode({ params })).toMatchObject({
      status: "running",
      worker_id: "worker-1",
      started_at: expect.any(String) as string,
      progress: { percent: 40, message: "half way" },
      wait_reason: null,
    });
    expect(await reader.getNodeProgress({ params })).toMatchObject({
      percent: 40,
      task: { worker_id: "worker-1", progress_message: "half way" },
    });
    const running = await reader.listNodes({ query: { status: "running" } });
    expect(running.items.map((node) => node.job_id)).toContain(job_id);
    const waiting = await reader.listNodes({ query: { status: "dispatched" } });
    expect(waiting.items.map((node) => node.job_id)).not.toContain(job_id);
    expect(await reader.getJobProgress({ params: { job_id } })).toMatchObject({
      overall_percent: expect.any(Number) as number,
      nodes: { running: 1 },
      current_tasks: [{ node_id: "first", progress_percent: 40 }],
    });
  });

  it("says why it waits: no worker, then queued, then its dependencies", async () => {
    const job_id = await make.job(pipeline, {}, { first: { status: "dispatched" } });
    const node = async (id: string) =>
      (await reader.getJob({ params: { job_id } })).nodes.find(({ node_id }) => node_id === id);
    const queue = (await node("first"))!.queue!;
    expect((await node("first"))!.wait_reason).toMatchObject({ kind: "no_worker", queue });
    await make.worker(`w-${job_id}`, { queues: [queue] });
    expect((await node("first"))!.wait_reason).toEqual({ kind: "queued", queue });
    await make.worker("w-dead", { queues: ["other"], heartbeat_at: new Date(0) });
    expect((await node("choose"))!.wait_reason).toEqual({ kind: "dependency", nodes: ["first"] });
  });

  it("shows attempts, parameters, checkpoints and where its log is", async () => {
    const job_id = await make.job(
      pipeline,
      {},
      { first: { status: "completed", attempt: 1, input_params: { a: 1 }, output: { b: 2 } } },
    );
    await make.result(job_id, "first", 0, { status: "failed" });
    await make.result(job_id, "first", 1);
    const task_id = `${job_id}_first_1`;
    await make.insert("dag_checkpoints", {
      job_id,
      node_id: "first",
      seq: 1,
      task_id,
      phase: "read",
      data: { at: 3 },
    });
    for (const level of ["debug", "warn"]) {
      await make.insert("dag_task_logs", {
        job_id,
        node_id: "first",
        task_id,
        level,
        message: "m",
      });
    }
    const node = await reader.getNode({ params: { job_id, node_id: "first" } });
    expect(node).toMatchObject({
      params: { a: 1 },
      output: { b: 2 },
      attempts: [{ status: "failed" }, { status: "completed" }],
      checkpoints: [{ phase: "read", data: { at: 3 } }],
    });
    const { items } = await reader.listJobLogs({ params: { job_id }, query: { level: "info" } });
    expect(items).toMatchObject([{ level: "warn", task_id }]);
    const answer = await fetch(test.baseUrl + node.logs, {
      headers: { authorization: `Bearer ${tokens.reader}` },
    });
    expect(((await answer.json()) as { items: unknown[] }).items).toHaveLength(2);
  });

  it("that the author left out is shown as the job says, with a row of an earlier release or without", async () => {
    const settled = { status: "completed" };
    const skipped = { status: "skipped" };
    const nodes = {
      first: settled,
      choose: { ...settled, output: { branch: 1 } },
      split: skipped,
      join: skipped,
      small: settled,
    };
    const done = await make.job(pipeline, { status: "completed" }, nodes);
    const open = await make.job(pipeline, {}, { first: { status: "dispatched" } });
    await make.node(open, "@start", { node_type: "start", status: "completed" });
    await make.node(open, "@end", { node_type: "end" });
    const show = async (job_id: string) => {
      const job = await reader.getJob({ params: { job_id } });
      const [start, end] = [job.nodes[0], job.nodes.at(-1)];
      return { ids: [start?.node_id, end?.node_id], end, start, job };
    };
    const ended = await show(done);
    expect(ended).toMatchObject({
      ids: ["@start", "@end"],
      start: { node_type: "start", status: "completed", completed_at: ended.job.started_at },
      end: { node_type: "end", status: "completed", completed_at: ended.job.completed_at },
    });
    const waiting = await show(open);
    expect(waiting.job.nodes).toHaveLength(pipeline.nodes.length);
    expect(waiting.end).toMatchObject({
      status: "pending",
      wait_reason: { kind: "dependency", nodes: expect.arrayContaining(["small"]) as string[] },
    });
    const params = { job_id: done, node_id: "@end" };
    expect(await reader.getNode({ params })).toMatchObject({ status: "completed", output: {} });
    expect(await reader.getNodeOutput({ params })).toBe("{}");
    const { items } = await reader.listNodes({ query: { job_id: open } });
    expect(items.map(({ node_id }) => node_id)).not.toContain("@start");

    const written = graphOf({
      workflow_id: "written",
      nodes: {
        begin: { type: "start", next: "a" },
        a: { handler: "echo" },
        stop: { type: "end", depends_on: "a" },
      },
    });
    await make.workflow(written, "the text");
    const job_id = await make.job(written);
    await expect(reader.getNode({ params: { job_id, node_id: "@start" } })).rejects.toMatchObject(
      refusal("NODE_NOT_FOUND", 404),
    );
  });

  it("stands for all its children when it is a fan-out, and pages through them", async () => {
    const counters = { total: 5, next_index: 3, completed: 1, failed: 0, failed_indexes: [] };
    const job_id = await make.job(
      pipeline,
      {},
      { split: { status: "running", fan_out: counters } },
    );
    const states = ["completed", "dispatched", "dispatched", "ready", "ready"];
    for (const [index, status] of states.entries()) {
      const child = { status, parent_node_id: "split", fan_out_index: index, handler: "echo" };
      await make.node(job_id, `split__${index}`, child);
    }
    await make.lease(job_id, "split__1");
    const job = await reader.getJob({ params: { job_id } });
    expect(job.nodes.map(({ node_id }) => node_id)).not.toContain("split__0");
    const split = job.nodes.find(({ node_id }) => node_id === "split")!;
    expect(split.children).toEqual({
      total: 5,
      completed: 1,
      running: 1,
      dispatched: 1,
      ready: 2,
      pending: 0,
      failed: 0,
      skipped: 0,
      cancelled: 0,
    });
    expect(split.wait_reason).toEqual({ kind: "children", settled: 1, total: 5 });
    // From the counters of the fan-out: the rows of a hundred thousand children are not read.
    const wide = { ...counters, total: 100_000, next_index: 100_000, completed: 99_000 };
    const large = await make.job(pipeline, {}, { split: { status: "running", fan_out: wide } });
    const { fan_outs } = await reader.getJobProgress({ params: { job_id: large } });
    expect(fan_outs).toMatchObject([{ total: 100_000, completed: 99_000, percent: 99 }]);

    const page = (query: object) =>
      reader.listJobNodes({ params: { job_id }, query: { parent: "split", ...query } });
    const first = await page({ limit: 3 });
    const rest = await page({ limit: 3, cursor: first.next_cursor! });
    expect([...first.items, ...rest.items].map(({ fan_out_index }) => fan_out_index)).toEqual([
      0, 1, 2, 3, 4,
    ]);
    expect(rest.items[0]!.wait_reason).toEqual({ kind: "concurrency", fan_out: "split", limit: 2 });
    expect((await page({ status: "running" })).items).toMatchObject([{ node_id: "split__1" }]);
    expect(await reader.getJobProgress({ params: { job_id } })).toMatchObject({
      fan_outs: [{ node_id: "split", total: 5, completed: 1, running: 1, percent: 20 }],
    });
    const child = await reader.getNode({ params: { job_id, node_id: "split__4" } });
    expect(child).toMatchObject({ parent_node_id: "split", fan_out_index: 4 });
    await expect(page({ parent: "first" })).rejects.toMatchObject(refusal("NODE_NOT_FOUND", 404));
  });
});

describe("events", () => {
  it("come in order, filtered, by cursor", async () => {
    const job_id = await make.job(pipeline);
    const kinds = ["job_created", "job_started", "node_ready", "node_dispatched", "node_completed"];
    for (const kind of kinds) await make.event(job_id, kind, { event_data: { kind } });
    const params = { job_id };
    const first = await reader.listJobEvents({ params, query: { limit: 2 } });
    const rest = await reader.listJobEvents({ params, query: { cursor: first.next_cursor! } });
    expect([...first.items, ...rest.items].map(({ event_type }) => event_type)).toEqual(kinds);
    const behind = await reader.listJobEvents({ params, query: { after: 4 } });
    expect(behind.items.map(({ seq }) => seq)).toEqual([5]);
    const ready = await reader.listJobEvents({ params, query: { event_type: "node_ready" } });
    expect(ready.items).toMatchObject([{ seq: 3, event_data: { kind: "node_ready" } }]);
  });
});
