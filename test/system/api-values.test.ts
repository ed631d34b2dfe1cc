import { writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { storeValue } from "../../src/adapters/storage/stored-values.ts";
import type { Client } from "../../src/core/api/client.ts";
import type { TaskMessage } from "../../src/core/messages.ts";
import type { JsonObject } from "../../src/core/model/json.ts";
import { dots } from "../../src/core/model/mask.ts";
import type { ApiTest } from "../support/api.ts";
import { openApiTest, tokens } from "../support/api.ts";
import { temporaryFolders } from "../support/embedded.ts";
import { waitFor } from "../support/wait.ts";

const secret = 'p4ss"word/of tests';

const workflows: Record<string, string> = {
  large: `
nodes:
  a: { handler: echo, next: b }
  b: { handler: echo, params: { list: "{{ nodes.a.output.list }}", n: 1 } }
outputs: { list: "{{ nodes.a.output.list }}" }`,
  secret: `
inputs:
  token: { type: string, secret: true, required: true, pattern: "^p4" }
  pin: { type: integer, secret: true, default: 4711 }
  name: { type: string, default: plain }
nodes:
  call:
    handler: echo
    params:
      header: "Bearer {{ inputs.token }}"
      name: "{{ inputs.name }}"
      key: { secret: true, value: "literal-key" }
    retry: { max_attempts: 0 }
    next: each
  each:
    type: fan_out
    source: [1, 2]
    task: { handler: echo, params: { pin: "{{ inputs.pin }}", own: { secret: true, value: "child-{{ item }}-key" } } }
    next: check
  check: { handler: echo, params: { seen: "{{ nodes.call.output }}" } }
outputs: { all: "{{ nodes.check.output }}", call: "{{ nodes.call.output }}" }`,
};

const folders = temporaryFolders();
let test: ApiTest;
let client: Client;
beforeAll(async () => {
  const folder = await folders.make();
  for (const [id, text] of Object.entries(workflows)) {
    await writeFile(path.join(folder, `${id}.yaml`), text);
  }
  test = await openApiTest(folder);
  client = test.operator;
});
afterAll(async () => {
  await test.close();
  await folders.remove();
});

async function nextTask(jobId: string): Promise<TaskMessage> {
  return waitFor(async () => (await test.engine.take(jobId))[0], { what: "a task" });
}

async function finish(message: TaskMessage, output: JsonObject): Promise<void> {
  await test.engine.complete(message, output);
  await test.engine.tick();
}

function get(address: string): Promise<Response> {
  const headers = { authorization: `Bearer ${tokens.reader}` };
  return fetch(test.baseUrl + address, { headers });
}

describe("a large value", () => {
  const list = Array.from({ length: 100_000 }, (_, index) => `element ${index}`);

  it("is given back whole: in the answer that waited, and at the addresses that stand for it", async () => {
    const correlation_id = "large";
    const waiting = client.submitJob({
      body: { workflow_id: "large", correlation_id },
      query: { wait: 60 },
    });
    const job = await waitFor(
      async () => (await client.listJobs({ query: { correlation_id } })).items[0],
      { what: "the job" },
    );
    const params = { job_id: job.job_id };
    await expect(client.getJobResult({ params })).rejects.toMatchObject({
      code: "RESULT_NOT_READY",
    });
    const first = await nextTask(job.job_id);
    await finish(first, await storeValue(test.storage, job.job_id, JSON.stringify({ list })));
    await finish(await nextTask(job.job_id), { done: true });
    const answer = await waiting;
    expect(answer).toMatchObject({ status: "completed", result: { list } });

    const shown = await client.getJob({ params });
    const { $ref } = shown.result_data as { $ref: string };
    expect(shown.result_data).toMatchObject({ $ref: `/api/v1/jobs/${job.job_id}/result` });
    expect(await (await get($ref)).json()).toEqual(answer.result);
    expect(JSON.parse(await client.getJobResult({ params }))).toEqual(answer.result);

    const a = await client.getNode({ params: { ...params, node_id: "a" } });
    expect(await (await get(a.output?.["$ref"] as string)).json()).toEqual({ list });
    const b = await client.getNode({ params: { ...params, node_id: "b" } });
    const address = (b.params!["list"] as JsonObject)["$ref"] as string;
    expect(address).toMatch(/\/nodes\/b\/params#\/list$/);
    expect(await (await get(address)).json()).toEqual({ list, n: 1 });
    expect(b.params?.["n"]).toBe(1);
  });

  it("is not read through a reference that a user made", async () => {
    const other = await storeValue(test.storage, "another-job", '{"of":"another"}');
    const { job_id } = await client.submitJob({ body: { workflow_id: "large" } });
    await finish(await nextTask(job_id), { list: [] });
    // The output is no reference of ours: its path is not that of this job and its hash is wrong.
    await test.engine.complete(await nextTask(job_id), { ...other, sha256: "0".repeat(64) });
    const answer = await get(`/api/v1/jobs/${job_id}/nodes/b/output`);
    expect(answer.status).not.toBe(200);
    expect(await answer.text()).not.toContain('another"}');
  });
});

describe("a secret", () => {
  async function start(inputs: JsonObject = { token: secret }): Promise<string> {
    return (await client.submitJob({ body: { workflow_id: "secret", inputs } })).job_id;
  }

  /** Everything that the API tells of a job. */
  async function allShown(jobId: string): Promise<string> {
    const params = { job_id: jobId };
    const { items: nodes } = await client.listNodes({ query: { job_id: jobId } });
    const parts: unknown[] = [
      await client.getJob({ params }),
      await client.listJobs({ query: {} }),
      await client.listJobEvents({ params, query: {} }),
      await client.listTasks({ query: { job_id: jobId } }),
      nodes,
      await client.listWorkflows(),
      await client.getWorkflow({ params: { workflow_id: "secret" } }),
    ];
    for (const { node_id } of nodes) {
      parts.push(await client.getNode({ params: { ...params, node_id } }));
      for (const value of ["params", "output"]) {
        parts.push(await (await get(`/api/v1/jobs/${jobId}/nodes/${node_id}/${value}`)).text());
      }
    }
    parts.push(await (await get(`/api/v1/jobs/${jobId}/result`)).text());
    for await (const message of client.streamJob({ params, query: {} })) {
      parts.push(message);
      break;
    }
    return JSON.stringify(parts);
  }

  function expectHidden(text: string): void {
    expect(text).toContain(dots);
    for (const part of [secret, JSON.stringify(secret).slice(1, -1), "4711", "literal-key"]) {
      expect(text).not.toContain(part);
    }
    expect(text).not.toMatch(/child-\d-key/);
    expect(text).not.toContain("p4ss");
  }

  it("reaches handlers and no reader", async () => {
    const jobId = await start();
    const call = await nextTask(jobId);
    expect(call.params).toEqual({
      header: `Bearer ${secret}`,
      name: "plain",
      key: "literal-key",
    });
    expect(call.secrets).toEqual([secret, "literal-key"]);
    await finish(call, { echoed: call.params, pin: 4711 });
    const children = await test.engine.take(jobId);
    expect(children[0]?.params).toEqual({ pin: 4711, own: "child-1-key" });
    expect(children[0]?.secrets).toEqual([4711, "child-1-key"]);
    await test.engine.completeAll(children.map((message) => ({ message, output: message.params })));
    await test.engine.tick();
    const check = await nextTask(jobId);
    expect(check.params).toEqual({ seen: { echoed: call.params, pin: 4711 } });
    await finish(check, check.params);
    const { status } = await client.getJob({ params: { job_id: jobId } });
    expect(status).toBe("completed");
    expectHidden(await allShown(jobId));
  });

  it("is hidden in errors and events, and retry and rerun still have it", async () => {
    const jobId = await start();
    const call = await nextTask(jobId);
    const message = `401 for https://x.test/?t=${encodeURIComponent(secret)} with ${secret}`;
    await test.engine.fail(call, {
      message,
      category: "permanent",
      details: { key: "literal-key" },
    });
    await test.engine.tick();
    const job = await client.getJob({ params: { job_id: jobId } });
    expect(job.error?.message).toBe(`401 for https://x.test/?t=${dots} with ${dots}`);
    const { rows } = await test.database.db.query<{ text: string }>(
      `SELECT concat(j.error_message, (SELECT string_agg(event_data::text, ' ')
         FROM dagapp.dag_unpacked_events e WHERE e.job_id = j.job_id)) AS text
       FROM dagapp.dag_jobs j WHERE job_id = $1`,
      [jobId],
    );
    expectHidden(rows[0]!.text);

    const retried = await client.retryJob({ params: { job_id: jobId }, body: {} });
    expect((await nextTask(retried.job_id)).params["header"]).toBe(`Bearer ${secret}`);
    // A client sends back the inputs as it was shown them.
    const shown = await client.getJob({ params: { job_id: jobId } });
    expect(shown.input_params).toEqual({ token: dots, pin: dots, name: "plain" });
    const again = await client.rerunJob({
      params: { job_id: jobId },
      body: { from_node: "call", inputs: { ...shown.input_params, name: "other" } },
    });
    expect((await nextTask(again.job_id)).params).toMatchObject({
      header: `Bearer ${secret}`,
      name: "other",
    });
  });

  it("is not repeated by the refusal of an input, and dots are no value", async () => {
    await expect(start({ token: "wrong-but-secret", pin: "1234-5678" })).rejects.toMatchObject({
      items: [
        { message: '"token" must match ^p4' },
        { message: '"pin" must be an integer, not another type' },
      ],
    });
    await expect(start({ token: dots })).rejects.toMatchObject({
      items: [{ message: expect.stringContaining("give its value") as string }],
    });
  });

  it("is hidden in the requests of a platform, which repeats it when it sends dots", async () => {
    const accepted = await client.submitAsset({
      body: {
        platform_id: "ddh",
        platform_refs: { dataset_id: "d", resource_id: "r" },
        version_label: "V1",
        workflow_id: "secret",
        inputs: { token: secret },
      },
    });
    const { request_id, job_id, asset_id } = accepted;
    const call = await nextTask(job_id);
    await test.engine.fail(call, { message: `refused ${secret}`, category: "permanent" });
    await test.engine.tick();
    const request = await client.getRequest({ params: { request_id } });
    expect(request).toMatchObject({
      inputs: { token: dots },
      error: { message: `refused ${dots}` },
    });
    expectHidden(JSON.stringify([request, await client.listRequests({ query: {} })]));
    const again = await client.resubmitVersion({
      params: { asset_id, version_ordinal: 0 },
      body: { inputs: request.inputs },
    });
    expect((await nextTask(again.job_id)).params["header"]).toBe(`Bearer ${secret}`);
  });

  it("is hidden in dead letters", async () => {
    const jobId = await start();
    const { rows } = await test.database.db.query<{ queue: string }>(
      `WITH gone AS (DELETE FROM dagapp.dag_queue_ready WHERE group_key = $1 RETURNING *)
       INSERT INTO dagapp.dag_queue_dead (message_id, queue, priority, deliveries, released,
         message_key, group_key, headers, body, enqueued_at, reason)
       SELECT message_id, queue, priority, 1, 0, message_key, group_key, headers, body, now(), 'test'
       FROM gone RETURNING queue`,
      [jobId],
    );
    const { queue } = rows[0]!;
    const letters = await client.listDeadLetters({ params: { queue }, query: {} });
    expect(letters.items).toHaveLength(1);
    expectHidden(JSON.stringify(letters));
  });
});
