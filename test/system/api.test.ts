import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openDatabase } from "../../src/adapters/postgres/database.ts";
import { migrate } from "../../src/adapters/postgres/migrate.ts";
import type { Client } from "../../src/core/api/client.ts";
import { createClient } from "../../src/core/api/client.ts";
import type { Contract } from "../../src/core/api/contract.ts";
import { contracts } from "../../src/core/api/index.ts";
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
    choose: {
      type: "conditional",
      condition: "inputs.big == true",
      on_true: "split",
      on_false: "small",
    },
    split: { type: "fan_out", source: [1, 2], task: { handler: "echo" }, next: "join" },
    join: { type: "fan_in" },
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

describe("workflows", () => {
  it("are listed, shown with graph and versions, and by hash", async () => {
    const { items } = await reader.listWorkflows();
    expect(items.map(({ workflow_id }) => workflow_id)).toEqual(
      expect.arrayContaining(["echo_test", "pipeline"]),
    );
    const workflow = await reader.getWorkflow({ params: { workflow_id: "pipeline" } });
    expect(workflow.source).toBe("the text");
    expect(workflow.versions).toMatchObject([{ is_current: true }]);
    const branch = workflow.graph.edges.filter(({ from }) => from === "choose");
    expect(branch.map(({ to }) => to).sort()).toEqual(["small", "split"]);
    expect(branch.every(({ label }) => label !== null)).toBe(true);
    const { workflow_id, workflow_hash } = workflow;
    const version = await reader.getWorkflowVersion({ params: { workflow_id, workflow_hash } });
    expect(version.definition).toEqual(workflow.definition);
    await expect(
      reader.getWorkflowVersion({ params: { workflow_id, workflow_hash: "0".repeat(64) } }),
    ).rejects.toMatchObject(refusal("WORKFLOW_NOT_FOUND", 404));
  });

  it("are checked as text, with lines", async () => {
    const text = "workflow_id: x\nnodes:\n  a: { handler: ecko }\n";
    expect(await reader.validateWorkflow({ body: { text } })).toMatchObject({
      valid: false,
      graph: null,
      findings: [{ line: 3, code: "UNKNOWN_HANDLER" }],
    });
    const good = await reader.validateWorkflow({ body: { text: text.replace("ecko", "echo") } });
    expect(good).toMatchObject({ valid: true, workflow_id: "x", findings: [] });
    expect(good.graph?.nodes.length).toBeGreaterThan(0);
  });
});

describe("queues", () => {
  it("show their depth and workers, and give dead letters back", async () => {
    const queue = "container-tasks";
    await make.worker("heavy-1", { queues: [queue], slots: 3, busy: 1 });
    await make.insert("dag_queue_dead", {
      message_id: 77,
      queue,
      priority: 0,
      deliveries: 5,
      message_key: "k",
      body: "{}",
      enqueued_at: new Date(),
      reason: "MaxDeliveriesExceeded",
      released: 0,
    });
    await make.insert("dag_queue_leases", {
      message_id: 78,
      queue,
      priority: 0,
      deliveries: 1,
      released: 0,
      message_key: "held",
      body: "{}",
      enqueued_at: new Date(),
      holder: "heavy-1",
      until: new Date(Date.now() + 60_000),
    });
    const status = await reader.getQueues();
    expect(status.items.find((each) => each.queue === queue)).toMatchObject({
      dead: 1,
      workers: 1,
      slots: 3,
      busy: 1,
    });
    const { items } = await reader.listDeadLetters({ params: { queue } });
    const id = items[0]!.id;
    expect(items).toMatchObject([{ reason: "MaxDeliveriesExceeded" }]);
    expect(await reader.getDeadLetter({ params: { queue, id } })).toEqual(items[0]);
    expect(
      await client.requeueDeadLetters({ params: { queue }, body: { ids: [id, "0"] } }),
    ).toEqual({
      requeued: 1,
    });
    await expect(reader.getDeadLetter({ params: { queue, id } })).rejects.toMatchObject(
      refusal("NOT_FOUND", 404),
    );
    await expect(reader.listDeadLetters({ params: { queue: "nope" } })).rejects.toMatchObject(
      refusal("QUEUE_NOT_FOUND", 404),
    );
  });
});

describe("metrics", () => {
  it("count jobs per workflow, node, failure and time", async () => {
    const graph = graphOf({ workflow_id: "measured", nodes: { only: { handler: "echo" } } });
    await make.workflow(graph);
    const started_at = new Date(Date.now() - 10_000);
    const done = { started_at, completed_at: new Date(started_at.getTime() + 4000) };
    const node = { only: { status: "completed", started_at, retry_count: 2 } };
    await make.job(graph, { status: "completed", ...done }, node);
    await make.job(graph, { status: "failed", error_code: "E", failed_node_id: "only", ...done });
    await make.job(graph, { status: "failed", error_code: "E", failed_node_id: "only", ...done });
    const query = { workflow_id: "measured" };
    const [metrics] = (await reader.getWorkflowMetrics({ query })).items;
    expect(metrics).toMatchObject({ total_jobs: 3, completed: 1, failed: 2, p50_duration: 4 });
    expect(metrics!.success_rate).toBeCloseTo(1 / 3);
    expect(metrics!.common_failures).toMatchObject([
      { node_id: "only", error_code: "E", occurrences: 2 },
    ]);
    const nodes = await reader.getNodeMetrics({ params: query });
    expect(nodes.items).toMatchObject([{ node_id: "only", completed: 1, total_retries: 2 }]);
    expect((await reader.getFailures({ query })).items).toMatchObject([
      { node_id: "only", error_code: "E", occurrences: 2 },
    ]);
    const steps = await reader.getThroughput({ query: { ...query, hours: 2, bucket_minutes: 30 } });
    expect(steps.items).toHaveLength(4);
    expect(steps.items.at(-1)).toMatchObject({ completed: 1, failed: 2, avg_duration: 4 });
    expect(steps.items[0]).toMatchObject({ completed: 0, avg_duration: null });
  });

  it("speak Prometheus", async () => {
    const text = await reader.getPrometheus();
    expect(text).toMatch(/^rmhdag_jobs\{status="failed"\} \d+$/m);
    expect(text).toMatch(/^rmhdag_queue_messages\{queue="dag-jobs",state="ready"\} 0$/m);
    expect(text).toMatch(
      /^rmhdag_http_request_duration_seconds_count\{.*path="\/api\/v1\/metrics\/workflows\/\{workflow_id\}\/nodes".*\} 1$/m,
    );
    for (const line of text.trimEnd().split("\n")) {
      expect(line).toMatch(/^(# (HELP|TYPE) \w+ .+|\w+(\{[^}]*\}|\{.*\})? -?[\d.e+-]+)$/);
    }
  });
});

describe("the fleet", () => {
  it("shows who is alive and what this orchestrator does", async () => {
    await make.worker("gone", { heartbeat_at: new Date(0) });
    await make.insert("dag_orchestrators", {
      owner_id: "orchestrator-1",
      host: "here",
      pid: 1,
      version: "1",
    });
    await make.job(pipeline, { owner_id: "orchestrator-1" });
    const workers = (await reader.listWorkers()).items;
    expect(workers.find(({ worker_id }) => worker_id === "gone")).toMatchObject({ alive: false });
    expect((await reader.listOrchestrators()).items).toMatchObject([{ alive: true, jobs: 1 }]);
    expect(await reader.getOrchestratorStatus()).toMatchObject({
      owner_id: "orchestrator-1",
      version: "1.2.3",
      ticks: 7,
      owned_jobs: 1,
    });
  });

  it("is healthy in parts that only readers see", async () => {
    const seen = await reader.health();
    expect(Object.keys(seen.parts!).sort()).toEqual([
      "broker",
      "database",
      "engine",
      "handlers",
      "orchestrators",
      "schema",
      "storage",
      "workers",
    ]);
    const stranger = createClient({ baseUrl: test.baseUrl, fetch });
    expect(await stranger.health()).toEqual({ status: seen.status, version: "1.2.3" });
    expect(await stranger.livez()).toEqual({ status: "ok" });
    expect(await stranger.readyz()).toMatchObject({ status: "ready" });
    await expect(stranger.listJobs()).rejects.toMatchObject(refusal("UNAUTHENTICATED", 401));
  });

  it("names the sandboxes of the workers, and is degraded where a worker has none", async () => {
    const gdal = { engine: "native", version: "3.6.2", codecs: [] };
    await make.worker("confined", {
      gdal: { ...gdal, sandbox: "bubblewrap", sandbox_reason: null },
    });
    expect((await reader.health()).parts?.["workers"]).toMatchObject({
      status: "ok",
      detail: expect.stringMatching(/, sandbox: bubblewrap$/) as string,
    });
    const reason = "bubblewrap: bwrap is not installed";
    await make.worker("open", { gdal: { ...gdal, sandbox: "none", sandbox_reason: reason } });
    expect((await reader.health()).parts?.["workers"]).toMatchObject({
      status: "degraded",
      facts: { sandboxes: ["bubblewrap", "none"] },
    });
    const { items } = await reader.listWorkers();
    expect(items.find(({ worker_id }) => worker_id === "open")).toMatchObject({
      gdal: { sandbox: "none", sandbox_reason: reason },
    });
  });
});

describe("the schema", () => {
  it("shows its status, tables and statements, and migrates without harm", async () => {
    const status = await reader.getSchemaStatus();
    expect(status).toMatchObject({ current: true, pending: [], rebuild_allowed: false });
    const tables = (await reader.listTables()).items.map(({ table }) => table);
    expect(tables).toContain("dag_jobs");
    const ddl = (await reader.getDdl()).items;
    expect(ddl).toHaveLength(status.needed);
    expect(ddl.every(({ applied }) => applied)).toBe(true);
    expect(await client.deploySchema()).toEqual({ applied: [], version: status.version });
    expect(await client.migrateSchema()).toEqual({ applied: [], version: status.version });
  });

  it("is rebuilt only where it is switched on, and confirmed by name", async () => {
    await expect(client.rebuildSchema({ body: { confirm: "x" } })).rejects.toMatchObject(
      refusal("SWITCHED_OFF", 403),
    );
    let rebuilt = 0;
    const allowed = await test.another({
      schema: {
        migrate: () => migrate(test.database.url),
        rebuild: async () => ({ applied: [], version: ++rebuilt }),
      },
    });
    const rebuild = (confirm: string) =>
      allowed.server.inject({
        method: "POST",
        url: "/api/v1/bootstrap/rebuild",
        headers: { authorization: `Bearer ${tokens.operator}` },
        payload: { confirm },
      });
    expect((await rebuild("something else")).statusCode).toBe(400);
    expect(rebuilt).toBe(0);
    expect((await rebuild(new URL(test.database.url).pathname.slice(1))).json()).toMatchObject({
      version: 1,
    });
    await allowed.close();
  });
});

describe("commands", () => {
  it("run at once and leave one audit event", async () => {
    const answer = await client.runCommand({ params: { name: "ping" }, body: { message: "hi" } });
    expect(answer.result).toEqual({ pong: true, caller: "operator", message: "hi" });
    const { rows } = await test.database.db.query(
      "SELECT event_type, event_status, event_data FROM dagapp.dag_job_events WHERE job_id = $1",
      [answer.audit_id],
    );
    expect(rows).toMatchObject([
      { event_type: "command", event_status: "success", event_data: { caller: "operator" } },
    ]);
    await expect(client.runCommand({ params: { name: "constructor" } })).rejects.toMatchObject(
      refusal("COMMAND_NOT_FOUND", 404),
    );
    await expect(
      client.runCommand({ params: { name: "ping" }, body: { messag: "hi" } }),
    ).rejects.toMatchObject({ status: 400 });
    expect((await reader.listCommands()).items.map(({ name }) => name).toSorted()).toEqual([
      "asset.reindex",
      "cache.invalidate",
      "metadata.publish",
      "metadata.publish_external",
      "metadata.unpublish",
      "metadata.unpublish_external",
      "ping",
    ]);
  });
});

describe("callbacks", () => {
  it("are for services only", async () => {
    const task = { task_id: "t", job_id: "j", node_id: "n" };
    const body = { ...task, percent: 5 };
    await expect(client.reportProgress({ body })).rejects.toMatchObject(refusal("FORBIDDEN", 403));
    const worker = createClient({ baseUrl: test.baseUrl, token: tokens.worker, fetch });
    expect(await worker.reportProgress({ body })).toEqual({ accepted: false });
    await expect(worker.listJobs()).rejects.toMatchObject(refusal("FORBIDDEN", 403));
  });
});

describe("checkpoints", () => {
  it("are given to the next attempt, the newest first", async () => {
    const worker = createClient({ baseUrl: test.baseUrl, token: tokens.worker, fetch });
    const query = { job_id: "resumed", node_id: "n" };
    expect(await worker.loadCheckpoint({ query })).toEqual({ checkpoint: null });
    for (const seq of [1, 2]) {
      const row = { ...query, seq, task_id: "t", phase: `phase ${seq}`, data: { seq } };
      await make.insert("dag_checkpoints", row);
    }
    expect(await worker.loadCheckpoint({ query })).toEqual({
      checkpoint: { seq: 2, phase: "phase 2", data: { seq: 2 } },
    });
  });
});

describe("the documentation", () => {
  it("is a page without scripts, and a document", async () => {
    const page = await test.api.server.inject({ url: "/api/v1/docs" });
    expect(page.headers["content-security-policy"]).toMatch(
      /default-src 'none'; style-src 'sha256-/,
    );
    // Addresses stand there as values that the API answers; none of them is loaded or led to.
    expect(page.body).not.toMatch(/<(?:script|link|iframe|img)|url\(|@import/i);
    expect(page.body).not.toMatch(/(?:src|href|action)\s*=\s*["']?(?:https?:)?\/\//i);
    for (const { id } of contracts) expect(page.body).toContain(`id="${id}"`);
    const document = await test.api.server.inject({ url: "/api/v1/openapi.json" });
    expect(document.json()).toMatchObject({ openapi: "3.1.0" });
  });
});

it("has a handler for every contract, and asks for a token wherever it is not public", async () => {
  for (const { id, method, path, access, stream } of contracts as readonly Contract[]) {
    if (stream === "socket") continue;
    const url = path.replaceAll(/\{\w+\*?\}/g, "x");
    const answer = await test.api.server.inject({ method, url });
    if (access === "public") expect(answer.statusCode, id).not.toBe(500);
    else expect(answer.statusCode, id).toBe(401);
  }
});

describe("without its database", () => {
  it("lives, is not ready, says which check failed, and refuses the rest for now", async () => {
    const away = openDatabase({
      url: "postgres://nobody@127.0.0.1:1/none",
      applicationName: "rmhdag test",
    });
    const alone = await test.another({ db: away });
    const get = (url: string) =>
      alone.server.inject({ url, headers: { authorization: `Bearer ${tokens.reader}` } });
    expect((await get("/livez")).statusCode).toBe(200);
    const ready = await get("/readyz");
    expect(ready.statusCode).toBe(503);
    expect(ready.json<{ detail: string }>().detail).toContain("`database`");
    expect((await get("/health")).json()).toMatchObject({
      status: "down",
      parts: { database: { status: "down" }, broker: { status: "ok" } },
    });
    const jobs = await get("/api/v1/jobs");
    expect(jobs.json()).toMatchObject({ status: 503, code: "UNAVAILABLE" });
    expect(jobs.headers["retry-after"]).toBe("2");
    await alone.close();
    await away.close();
  });
});
