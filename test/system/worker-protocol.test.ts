import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createClient } from "../../src/core/api/client.ts";
import type { Client } from "../../src/core/api/client.ts";
import type { JsonObject } from "../../src/core/model/json.ts";
import type { TestDatabase } from "../support/database.ts";
import { createTestDatabase } from "../support/database.ts";
import type { Orchestrator } from "../support/programs.ts";
import { Fleet, finished, submit } from "../support/programs.ts";
import { waitFor } from "../support/wait.ts";

const workflow = (handler: string, queue: string, params: string) =>
  `nodes: { a: { handler: ${handler}, queue: ${queue}, params: ${params}, retry: { max_attempts: 2, initial_delay_seconds: 0.1 } } }\n`;

describe("workers over HTTP", () => {
  let database: TestDatabase;
  let folder: string;
  let fleet: Fleet;
  let orchestrator: Orchestrator;
  const children: ChildProcess[] = [];

  beforeAll(async () => {
    database = await createTestDatabase();
    folder = await mkdtemp(path.join(tmpdir(), "rmhdag-protocol-"));
    await writeFile(
      path.join(folder, "shell.yaml"),
      workflow("shell.greet", "shell", "{ name: Ada }"),
    );
    await writeFile(
      path.join(folder, "partner.yaml"),
      workflow("acme.ndvi", "gpu", "{ red: bronze/r.tif }"),
    );
    await writeFile(
      path.join(folder, "own.yaml"),
      `nodes:
  greet: { handler: hello_world, queue: far, params: { name: Bob }, next: phases }
  phases:
    handler: multi_phase
    queue: far
    params: { phases: 3, fail_in_phase: 2 }
    retry: { max_attempts: 2, initial_delay_seconds: 0.1 }
    next: large
  large: { handler: probe, queue: far, params: { mode: large, size: 400000 }, next: again }
  again: { handler: echo, queue: far, params: { all: "{{ nodes.large.output }}" }, next: many }
  many: { type: fan_out, source: ${JSON.stringify(Array.from({ length: 60 }, (_, n) => n))}, task: { handler: echo, queue: far, params: { n: "{{ item }}" } }, next: huge }
  # Too large for one request together; the last is as large as an output may be.
  huge: { type: fan_out, source: [9000000, 9000000, 9000000, 16777160], task: { handler: probe, queue: far, params: { mode: large, size: "{{ item }}" } } }
`,
    );
    fleet = new Fleet(database.url, folder);
    orchestrator = await fleet.orchestrator({ LEASE_SEC: "6" });
  });
  afterAll(async () => {
    for (const child of children) if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    await fleet.stop();
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  });

  async function workerClient(name: string, queues: string[], handlers: string[]): Promise<Client> {
    const { token } = await orchestrator.client.createToken({
      body: { name, access: ["work"], queues, handlers },
    });
    return createClient({ baseUrl: orchestrator.url, token, fetch });
  }

  const ndvi = {
    name: "acme.ndvi",
    queue: "gpu",
    params: { type: "object", properties: { red: { type: "string" } }, required: ["red"] },
  };
  const me = { worker_id: "w" };

  /** Registers a worker on `gpu`, submits a job for it and leases its task. */
  async function leaseOne(client: Client, body: { worker_id: string } = me) {
    await client.registerWorker({ body: { ...body, queues: ["gpu"], handlers: [ndvi] } });
    // At once: nothing has to be waited for after the registration.
    const job = await submit(orchestrator, "partner");
    const { tasks } = await client.leaseTasks({ body: { ...body, max: 5, wait_seconds: 10 } });
    // On a busy machine a task of an earlier test may come back.
    const task = tasks.find(({ job_id }) => job_id === job);
    if (task === undefined) throw new Error("The task of the job was not leased.");
    return { job, task };
  }

  it("runs the documented client in sh and curl, which offers a handler that was unknown", async () => {
    await expect(submit(orchestrator, "shell")).rejects.toMatchObject({ code: "INVALID_WORKFLOW" });
    const page = await readFile("docs/worker-protocol.md", "utf8");
    const script = /```sh\n(#!\/bin\/sh[\s\S]*?)```/.exec(page)?.[1];
    const { token } = await orchestrator.client.createToken({
      body: { name: "sh", access: ["work"], queues: ["shell"], handlers: ["shell.greet"] },
    });
    const file = path.join(folder, "worker.sh");
    await writeFile(file, script!);
    const child = spawn("sh", [file], {
      env: { PATH: process.env["PATH"], RMHDAG_URL: orchestrator.url, RMHDAG_TOKEN: token },
      stdio: "inherit",
      detached: true,
    });
    children.push(child);
    await waitFor(
      async () => {
        const { items } = await orchestrator.client.listHandlers();
        return items.some(({ name, alive }) => name === "shell.greet" && alive);
      },
      { what: "the registration" },
    );
    const ended = await finished(orchestrator, await submit(orchestrator, "shell"));
    expect(ended).toMatchObject({ status: "completed" });
    expect(ended.result_data).toMatchObject({ a: { greeting: "Hello, Ada" } });
  });

  it("uses a handler that was unknown within a second of its registration, on a new queue", async () => {
    const taken: number[] = [];
    // The quickest of three counts: a machine that others use may take a second for anything.
    for (const name of ["acme.fresh0", "acme.fresh1", "acme.fresh2"]) {
      const queue = name.replace(".", "-");
      await writeFile(path.join(folder, `${queue}.yaml`), workflow(name, queue, "{}"));
      await expect(submit(orchestrator, queue)).rejects.toMatchObject({ code: "INVALID_WORKFLOW" });
      const client = await workerClient(queue, [queue], [name]);
      const since = performance.now();
      await client.registerWorker({
        body: { ...me, queues: [queue], handlers: [{ name, queue }] },
      });
      const [job, { tasks }] = await Promise.all([
        submit(orchestrator, queue),
        client.leaseTasks({ body: { ...me, max: 1, wait_seconds: 10 } }),
      ]);
      const results = tasks.map(({ lease }) => ({ lease, status: "completed" as const }));
      await client.reportTasks({ body: { ...me, results } });
      expect(await finished(orchestrator, job)).toMatchObject({ status: "completed" });
      taken.push(performance.now() - since);
    }
    expect(Math.min(...taken)).toBeLessThan(1000);
  });

  it("confines a token to its queues, handlers and routes, and a worker to its tasks", async () => {
    const partner = await workerClient("partner", ["gpu"], ["acme.ndvi"]);
    const rival = await workerClient("rival", ["gpu"], ["acme.ndvi"]);
    const register = (
      client: Client,
      queues: string[],
      handlers: { name: string; queue?: string }[],
    ) => client.registerWorker({ body: { ...me, queues, handlers } });
    await expect(register(partner, ["shell"], [ndvi])).rejects.toMatchObject({ code: "FORBIDDEN" });
    await expect(register(partner, ["gpu"], [{ name: "acme.other" }])).rejects.toMatchObject({
      code: "FORBIDDEN",
    });
    // Tasks that name no queue follow the contract: the token cannot send them to another queue.
    for (const queue of ["container-tasks", "dag-jobs"]) {
      await expect(register(partner, ["gpu"], [{ ...ndvi, queue }])).rejects.toMatchObject({
        code: "FORBIDDEN",
        message: expect.stringContaining(`"${queue}"`) as string,
      });
    }
    await expect(partner.leaseTasks({ body: { ...me, max: 1 } })).rejects.toMatchObject({
      code: "WORKER_NOT_REGISTERED",
    });
    await expect(partner.listJobs({ query: {} })).rejects.toMatchObject({ code: "FORBIDDEN" });
    await expect(
      partner.reportResults({
        body: { task_id: "x", status: "completed" },
      }),
    ).rejects.toMatchObject({ code: "FORBIDDEN" });

    // A contract without a queue is offered on the worker's own, and not on the general one.
    await register(partner, ["gpu"], [{ name: "acme.ndvi" }]);
    const offered = await orchestrator.client.getHandler({ params: { name: "acme.ndvi" } });
    expect(offered.contracts.map(({ contract }) => contract.queue)).toEqual(["gpu"]);

    const { job, task } = await leaseOne(partner);
    await rival.registerWorker({ body: { ...me, queues: ["gpu"], handlers: [ndvi] } });
    const { lease } = task;
    const result = { lease, status: "completed" as const, output: { stolen: true } };
    expect(await rival.reportTasks({ body: { ...me, results: [result] } })).toEqual({
      accepted: [],
      lost: [lease],
    });
    expect(await rival.renewLeases({ body: { ...me, leases: [lease] } })).toMatchObject({
      lost: [lease],
    });
    expect(await rival.releaseTasks({ body: { ...me, leases: [lease] } })).toMatchObject({
      lost: [lease],
    });
    const checkpoint = { ...me, lease, phase: "p", data: {} };
    await expect(rival.saveTaskCheckpoint({ body: checkpoint })).rejects.toMatchObject({
      code: "STALE_ATTEMPT",
    });
    const address = { ...me, lease, path: "silver/x.bin", method: "PUT" as const };
    await expect(rival.signAddress({ body: address })).rejects.toMatchObject({
      code: "STALE_ATTEMPT",
    });
    const honest = {
      ...result,
      output: { mean: 0.5 },
      metrics: { pixels: 9 },
      execution_duration_ms: 12,
    };
    expect(await partner.reportTasks({ body: { ...me, results: [honest] } })).toEqual({
      accepted: [lease],
      lost: [],
    });
    expect((await finished(orchestrator, job)).result_data).toMatchObject({ a: { mean: 0.5 } });
    const node = await orchestrator.client.getNode({ params: { job_id: job, node_id: "a" } });
    expect(node.attempts).toMatchObject([
      { worker_id: "partner:w", metrics: { pixels: 9 }, execution_duration_ms: 12 },
    ]);
  });

  it("runs no handler for an operator unless the configuration allows it", async () => {
    const body = { handler: "echo", params: {} };
    await expect(orchestrator.client.testHandler({ body })).rejects.toMatchObject({
      code: "SWITCHED_OFF",
    });
  });

  it("refuses reserved names and schemas that cannot be used", async () => {
    const { token } = await orchestrator.client.createToken({
      body: { name: "anything", access: ["work"] },
    });
    const client = createClient({ baseUrl: orchestrator.url, token, fetch });
    for (const name of ["echo", "raster.mine", "vector_mine", "exporter"]) {
      const body = { ...me, queues: ["gpu"], handlers: [{ name }] };
      await expect(client.registerWorker({ body })).rejects.toMatchObject({
        code: "HANDLER_RESERVED",
      });
    }
    const handlers = [{ name: "acme.bad", params: { type: "objekt" } }];
    await expect(
      client.registerWorker({ body: { ...me, queues: ["gpu"], handlers } }),
    ).rejects.toMatchObject({ code: "BAD_REQUEST", items: [{ pointer: "/handlers/0" }] });
  });

  it("answers a lease for queues that no orchestrator has declared yet", async () => {
    const queues = Array.from({ length: 20 }, (_, index) => `new-${index}`);
    const client = await workerClient("newcomer", queues, ["acme.new"]);
    const handlers = [{ name: "acme.new", queue: "new-0" }];
    await client.registerWorker({ body: { ...me, queues, handlers } });
    await database.db.query("DELETE FROM dagapp.dag_queues WHERE queue = 'new-19'");
    expect(await client.leaseTasks({ body: { ...me, max: 1, wait_seconds: 0 } })).toEqual({
      tasks: [],
    });
  });

  it("renews, saves checkpoints for the next attempt, logs, and shows progress", async () => {
    const client = await workerClient("renewing", ["gpu"], ["acme.ndvi"]);
    const { job, task } = await leaseOne(client);
    const { lease } = task;
    expect(task).toMatchObject({ params: { red: "bronze/r.tif" }, attempt: 0, checkpoint: null });
    const progress = [{ lease, percent: 40, message: "reading" }];
    const renewed = await client.renewLeases({ body: { ...me, leases: [lease], progress } });
    expect(renewed).toEqual({ held: [lease], cancelled: [], lost: [] });
    await client.logTasks({ body: { ...me, lines: [{ lease, message: "half way" }] } });
    const data = { tile: 7 };
    await client.saveTaskCheckpoint({ body: { ...me, lease, phase: "read", data } });
    const node = await orchestrator.client.getNode({ params: { job_id: job, node_id: "a" } });
    expect(node.progress).toMatchObject({ percent: 40, message: "reading" });

    const failed = { lease, status: "failed" as const, error_message: "try again" };
    await client.reportTasks({ body: { ...me, results: [failed] } });
    const again = await client.leaseTasks({ body: { ...me, wait_seconds: 10 } });
    const second = again.tasks[0]!;
    expect(second).toMatchObject({ attempt: 1, checkpoint: { phase: "read", data } });

    expect(await client.releaseTasks({ body: { ...me, leases: [second.lease] } })).toMatchObject({
      released: [second.lease],
    });
    const third = (await client.leaseTasks({ body: { ...me, wait_seconds: 10 } })).tasks[0]!;
    expect(third).toMatchObject({ attempt: 1, delivery_count: 1, checkpoint: { phase: "read" } });

    await orchestrator.client.cancelJob({ params: { job_id: job }, body: {} });
    const cancelled = await waitFor(
      async () => {
        const answer = await client.renewLeases({ body: { ...me, leases: [third.lease] } });
        return answer.cancelled.length > 0 ? answer : undefined;
      },
      { what: "the answer that the task is cancelled" },
    );
    expect(cancelled).toEqual({ held: [], cancelled: [third.lease], lost: [] });
    const logs = await orchestrator.client.listJobLogs({ params: { job_id: job }, query: {} });
    expect(logs.items.map(({ message }) => message)).toContain("half way");
  });

  it("gives a task to another worker when its lease is not renewed", async () => {
    const client = await workerClient("dying", ["gpu"], ["acme.ndvi"]);
    const { job, task } = await leaseOne(client, { worker_id: "dead" });
    await client.registerWorker({ body: { ...me, queues: ["gpu"], handlers: [ndvi] } });
    const { tasks } = await client.leaseTasks({ body: { ...me, wait_seconds: 20 } });
    expect(tasks).toMatchObject([{ task_id: task.task_id }]);
    const results = [{ lease: tasks[0]!.lease, status: "completed" as const, output: { ok: 1 } }];
    await client.reportTasks({ body: { ...me, results } });
    expect(await finished(orchestrator, job)).toMatchObject({ status: "completed" });
    const late = [{ lease: task.lease, status: "completed" as const, output: { ok: 2 } }];
    expect(await client.reportTasks({ body: { worker_id: "dead", results: late } })).toEqual({
      accepted: [],
      lost: [task.lease],
    });
  });

  it("reads and writes storage by signed addresses, and only what the task names", async () => {
    const client = await workerClient("storing", ["gpu"], ["acme.ndvi"]);
    const { task } = await leaseOne(client);
    const { lease } = task;
    const sign = (place: string, method: "GET" | "PUT") =>
      client.signAddress({ body: { ...me, lease, path: place, method } });
    const bytes = new Uint8Array(300_000).map((_, index) => index % 251);
    const put = await sign("silver/out/ndvi.tif", "PUT");
    const stored = await fetch(put.url, { method: "PUT", headers: put.headers, body: bytes });
    expect(await stored.json()).toEqual({ path: "silver/out/ndvi.tif", bytes: 300_000 });
    const tampered = put.url.replace("ndvi.tif", "other.tif");
    expect(
      (await fetch(tampered, { method: "PUT", headers: put.headers, body: bytes })).status,
    ).toBe(403);
    // A signature to write does not read.
    expect((await fetch(put.url)).status).toBe(403);

    await expect(sign("silver/out/ndvi.tif", "GET")).rejects.toMatchObject({ code: "FORBIDDEN" });
    await expect(sign("bronze/r.tif", "GET")).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(sign("external/x", "PUT")).rejects.toMatchObject({ code: "FORBIDDEN" });
    await expect(sign("silver/../x", "PUT")).rejects.toMatchObject({ code: "BAD_REQUEST" });

    const { token } = await orchestrator.client.createToken({
      body: { name: "free", access: ["work"] },
    });
    const free = createClient({ baseUrl: orchestrator.url, token, fetch });
    await client.releaseTasks({ body: { ...me, leases: [lease] } });
    await free.registerWorker({ body: { ...me, queues: ["gpu"], handlers: [ndvi] } });
    const { tasks } = await free.leaseTasks({ body: { ...me, wait_seconds: 10 } });
    const get = await free.signAddress({
      body: { ...me, lease: tasks[0]!.lease, path: "silver/out/ndvi.tif", method: "GET" },
    });
    expect(new Uint8Array(await (await fetch(get.url)).arrayBuffer())).toEqual(bytes);
    await free.reportTasks({
      body: { ...me, results: [{ lease: tasks[0]!.lease, status: "completed" }] },
    });
  });

  it("runs the worker of rmhdag without a database, with the settings of older workers", async () => {
    const { token } = await orchestrator.client.createToken({
      body: { name: "far-site", access: ["work"], queues: ["far"] },
    });
    const worker = await fleet.worker({
      DATABASE_URL: "",
      DAG_CALLBACK_URL: `${orchestrator.url}/api/v1/callbacks/task-result`,
      DAG_SERVICE_TOKEN: token,
      WORKER_ID: "far-1",
      WORKER_QUEUE: "far",
      // Another machine: it has nothing of the orchestrator's storage.
      RMHDAG_DATA_DIR: path.join(folder, "far-site"),
    });
    const job = await waitFor(() => submit(orchestrator, "own").catch(() => undefined), {
      what: "the queue of the new worker",
    });
    const ended = await finished(orchestrator, job);
    expect(ended).toMatchObject({ status: "completed" });
    const { client } = orchestrator;
    // A result that waits in the inbox leaves a row of its own; most go to the engine at once.
    const { rows } = await database.db.query<{ waited: number }>(
      `SELECT count(*)::int AS waited FROM dagapp.dag_task_results
       WHERE job_id = $1 AND node_id LIKE 'many\\_\\_%'`,
      [job],
    );
    expect(rows[0]!.waited).toBeLessThan(30);
    const phases = await client.getNode({ params: { job_id: job, node_id: "phases" } });
    expect(phases.output).toMatchObject({ phases_completed: 3, resumed_from: 1 });
    expect(phases.attempts.map(({ worker_id }) => worker_id)).toEqual([
      "far-site:far-1",
      "far-site:far-1",
    ]);
    const large = await client.getNode({ params: { job_id: job, node_id: "large" } });
    expect(large.output).toMatchObject({ bytes: expect.any(Number) as number });
    const whole = async (node_id: string) => {
      const answer = await fetch(`${orchestrator.url}/api/v1/jobs/${job}/nodes/${node_id}/output`);
      return (await answer.json()) as JsonObject;
    };
    const again = (await whole("again"))["echoed_params"] as JsonObject;
    expect(JSON.stringify(again["all"]).length).toBeGreaterThan(400_000);
    expect(again["all"]).toEqual(await whole("large"));
    const probes = await client.listNodes({ query: { job_id: job, handler: "probe" } });
    const huge = probes.items.filter(({ node_id }) => node_id.startsWith("huge__"));
    expect(huge.map(({ status, attempt }) => [status, attempt])).toEqual(
      Array.from({ length: 4 }, () => ["completed", 0]),
    );
    expect((await client.getHandler({ params: { name: "stac.list_items" } })).alive).toBe(false);
    worker.signal("SIGTERM");
    expect(await worker.gone).toBe(0);
    const { items } = await client.listWorkers();
    expect(items.map(({ worker_id }) => worker_id)).not.toContain("far-site:far-1");
  });

  it("takes one result in the format of older workers", async () => {
    const client = await workerClient("older", ["gpu"], ["acme.ndvi"]);
    const { job, task } = await leaseOne(client);
    const result = {
      task_id: task.task_id,
      status: "completed",
      output: { mean: 1 },
      error_message: null,
      execution_duration_ms: 1500,
      metrics: { rows: 3 },
    };
    const send = async (body: JsonObject) => {
      const answer = await fetch(`${orchestrator.url}/api/v1/callbacks/task-result`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      return { status: answer.status, body: await answer.json() };
    };
    expect(await send(result)).toEqual({
      status: 200,
      body: { accepted: [task.task_id], lost: [] },
    });
    expect((await finished(orchestrator, job)).result_data).toMatchObject({ a: { mean: 1 } });
    expect((await send({ ...result, task_id: "no_such_0" })).body).toEqual({
      accepted: [],
      lost: ["no_such_0"],
    });
    const node = await orchestrator.client.getNode({ params: { job_id: job, node_id: "a" } });
    expect(node.attempts).toMatchObject([{ metrics: { rows: 3 }, execution_duration_ms: 1500 }]);
  });
});
