import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createTestDatabase } from "../../test/support/database.ts";
import type { TestDatabase } from "../../test/support/database.ts";
import { waitFor } from "../../test/support/wait.ts";
import { startWorkerProcess, taskOut } from "../../test/support/worker.ts";
import type { WorkerProcess } from "../../test/support/worker.ts";
import { createPostgresBroker } from "../adapters/broker/postgres-broker/create-postgres-broker.ts";
import type { Broker, QueueSpec } from "../adapters/broker/broker.ts";
import { createLogger } from "../adapters/runtime/logger.ts";
import type { JsonObject } from "../core/model/json.ts";
import type { TaskError } from "../core/model/task.ts";

interface ResultRow {
  readonly task_id: string;
  readonly status: string;
  readonly output: JsonObject | null;
  readonly error: TaskError | null;
  readonly worker_id: string;
}

const log = createLogger({ name: "test", level: "error", format: "json" });
let database: TestDatabase;
let broker: Broker;
const workers: WorkerProcess[] = [];
let queueCount = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  broker = createPostgresBroker({ db: database.db, url: database.url, holder: "test", log });
});
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.dispose()));
});
afterAll(async () => {
  await broker.close();
  await database.drop();
});

async function makeQueue(spec: Partial<QueueSpec> = {}): Promise<string> {
  const queue = `queue-${++queueCount}`;
  await broker.ensureQueue(queue, { leaseMs: 30_000, maxDeliveries: 5, ...spec });
  return queue;
}

async function startWorker(queue: string, env: Record<string, string> = {}) {
  const worker = await startWorkerProcess({
    DATABASE_URL: database.url,
    WORKER_QUEUE: queue,
    ...env,
  });
  workers.push(worker);
  return worker;
}

function resultOf(taskId: string): Promise<ResultRow> {
  return waitFor(
    async () => {
      const { rows } = await database.db.query<ResultRow>(
        "SELECT task_id, status, output, error, worker_id FROM dagapp.dag_task_results WHERE task_id = $1",
        [taskId],
      );
      return rows[0];
    },
    { what: `the result of ${taskId}`, timeoutMs: 20_000 },
  );
}

const leaseOf = (taskId: string) =>
  waitFor(
    async () => {
      const { rows } = await database.db.query<{ holder: string; deliveries: number }>(
        "SELECT holder, deliveries FROM dagapp.dag_queue_leases WHERE message_key = $1",
        [taskId],
      );
      return rows[0];
    },
    { what: `the lease of ${taskId}` },
  );

const checkpointOf = (nodeId: string, atLeast: number) =>
  waitFor(
    async () => {
      const { rows } = await database.db.query<{ seq: number }>(
        "SELECT max(seq) AS seq FROM dagapp.dag_checkpoints WHERE node_id = $1",
        [nodeId],
      );
      return (rows[0]?.seq ?? 0) >= atLeast;
    },
    { what: `checkpoint ${atLeast} of ${nodeId}` },
  );

describe("a worker process", () => {
  it("runs a task, reports its result and completes the message", async () => {
    const queue = await makeQueue();
    const params = { message: "hello", nested: { n: [1, null, "é"] } };
    await broker.publish(queue, [taskOut({ task_id: "echo-1", handler: "echo", params })]);
    await startWorker(queue, { WORKER_ID: "worker-a" });
    expect(await resultOf("echo-1")).toMatchObject({
      status: "completed",
      output: { echoed_params: params },
      error: null,
      worker_id: "worker-a",
    });
    expect(await broker.depth(queue)).toMatchObject({ ready: 0, in_flight: 0, dead: 0 });
  });

  it("reports what was wrong, and whether a retry can help", async () => {
    const queue = await makeQueue();
    const tasks = [
      taskOut({ task_id: "e-unknown", handler: "no_such_handler" }),
      taskOut({ task_id: "e-params", handler: "sleep", params: { seconds: "x", other: 1 } }),
      taskOut({ task_id: "e-permanent", handler: "probe", params: { mode: "permanent" } }),
      taskOut({ task_id: "e-transient", handler: "probe", params: { mode: "fail" } }),
      taskOut({
        task_id: "e-throttle",
        handler: "probe",
        params: { mode: "throttle", seconds: 7 },
      }),
      taskOut({
        task_id: "e-timeout",
        handler: "sleep",
        params: { seconds: 60 },
        timeout_seconds: 0.2,
      }),
      taskOut({ task_id: "e-nul", handler: "probe", params: { mode: "ok", value: "a\0b" } }),
      taskOut({ task_id: "e-huge", handler: "probe", params: { mode: "large", size: 17_000_000 } }),
    ];
    await broker.publish(queue, tasks);
    await startWorker(queue);
    const found: Record<string, unknown> = {};
    for (const { id } of tasks) {
      const { error } = await resultOf(id);
      found[id] = [error?.code, error?.category];
    }
    expect(found).toEqual({
      "e-unknown": ["UNKNOWN_HANDLER", "permanent"],
      "e-params": ["INVALID_PARAMS", "permanent"],
      "e-permanent": ["PERMANENT", "permanent"],
      "e-transient": ["TRANSIENT", "transient"],
      "e-throttle": ["THROTTLED", "throttling"],
      "e-timeout": ["TIMEOUT", "transient"],
      "e-nul": ["OUTPUT_INVALID", "permanent"],
      "e-huge": ["OUTPUT_TOO_LARGE", "permanent"],
    });
    const { error } = await resultOf("e-params");
    expect(error?.message).toContain("/seconds:");
    expect((await resultOf("e-throttle")).error?.details).toEqual({ retry_after_seconds: 7 });
  });

  it("keeps a large output in storage and reports where", async () => {
    const queue = await makeQueue();
    await broker.publish(queue, [
      taskOut({ task_id: "large-1", handler: "probe", params: { mode: "large", size: 300_000 } }),
    ]);
    await startWorker(queue);
    const { output } = await resultOf("large-1");
    const { $ref, sha256 } = output as { $ref: string; sha256: string };
    expect($ref).toBe(`results/job-1/${sha256}.json`);
    expect(output?.["bytes"]).toBeGreaterThan(300_000);
    expect(output?.["sha256"]).toMatch(/^[0-9a-f]{64}$/);
  });

  it("dead-letters a message that is no task, with the reason", async () => {
    const queue = await makeQueue();
    await broker.publish(queue, [
      { id: "poison-1", body: "not json" },
      { id: "poison-2", body: '{"task_id": 1}' },
    ]);
    await startWorker(queue);
    const letters = await waitFor(
      async () => {
        const found = await broker.deadLetters(queue, 10);
        return found.length === 2 && found;
      },
      { what: "two dead letters" },
    );
    expect(letters.map(({ message_key, reason }) => [message_key, reason]).toSorted()).toEqual([
      ["poison-1", "InvalidMessage"],
      ["poison-2", "InvalidMessage"],
    ]);
    expect(letters.some(({ detail }) => detail?.includes("/task_id"))).toBe(true);
  });

  it("stops a running handler when its job is withdrawn, and reports nothing", async () => {
    const queue = await makeQueue();
    await broker.publish(queue, [
      taskOut({ task_id: "cancel-1", job_id: "job-c", handler: "sleep", params: { seconds: 600 } }),
    ]);
    const worker = await startWorker(queue);
    await leaseOf("cancel-1");
    const started = performance.now();
    await database.db.transaction((tx) => broker.withdraw(["job-c"], { tx }));
    await waitFor(async () => (await broker.depth(queue)).in_flight === 0, { what: "no lease" });
    expect(performance.now() - started).toBeLessThan(5000);
    await waitFor(() => worker.output().includes('"cause":"cancelled"'), { what: "the log line" });
    const { rowCount } = await database.db.query(
      "SELECT FROM dagapp.dag_task_results WHERE task_id = 'cancel-1'",
    );
    expect(rowCount).toBe(0);
  });

  it("is killed: another worker takes over the task and continues at its checkpoint", async () => {
    const queue = await makeQueue({ leaseMs: 1000 });
    await broker.publish(queue, [
      taskOut({
        task_id: "crash-1",
        node_id: "node-crash",
        handler: "multi_phase",
        params: { phases: 4, seconds_per_phase: 0.5 },
      }),
    ]);
    const first = await startWorker(queue, { WORKER_ID: "first" });
    await checkpointOf("node-crash", 2);
    first.signal("SIGKILL");
    await first.ended;
    await startWorker(queue, { WORKER_ID: "second" });
    const { output, worker_id } = await resultOf("crash-1");
    expect(worker_id).toBe("second");
    expect(output).toMatchObject({ phases_completed: 4 });
    expect(output?.["resumed_from"]).toBeGreaterThanOrEqual(2);
  });

  it("releases its tasks on SIGTERM, uncounted, and the next worker continues", async () => {
    const queue = await makeQueue();
    await broker.publish(queue, [
      taskOut({
        task_id: "term-1",
        node_id: "node-term",
        handler: "multi_phase",
        params: { phases: 3, seconds_per_phase: 0.8 },
      }),
    ]);
    const first = await startWorker(queue, { WORKER_ID: "polite" });
    await checkpointOf("node-term", 1);
    const started = performance.now();
    first.signal("SIGTERM");
    expect(await first.ended).toBe(0);
    expect(performance.now() - started).toBeLessThan(5000);
    expect(await broker.depth(queue)).toMatchObject({ ready: 1, in_flight: 0 });
    const { rowCount } = await database.db.query(
      "SELECT FROM dagapp.dag_workers WHERE worker_id = 'polite'",
    );
    expect(rowCount).toBe(0);
    await startWorker(queue);
    expect((await resultOf("term-1")).output).toMatchObject({ phases_completed: 3 });
  });

  it("ends at once on a second signal", async () => {
    const queue = await makeQueue();
    await broker.publish(queue, [
      taskOut({ task_id: "deaf-1", handler: "probe", params: { mode: "hang" } }),
    ]);
    const worker = await startWorker(queue);
    await leaseOf("deaf-1");
    worker.signal("SIGTERM");
    await waitFor(() => worker.output().includes("stopping"), { what: "that it stops" });
    worker.signal("SIGTERM");
    expect(await worker.ended).toBe(143);
  });

  it("registers itself with queues, slots, version and what it is busy with", async () => {
    const queue = await makeQueue();
    const worker = await startWorker(queue, {
      WORKER_ID: "registered",
      WORKER_CONCURRENCY: "7",
      WORKER_HEARTBEAT_SECONDS: "0.2",
    });
    await broker.publish(queue, [
      taskOut({ task_id: "busy-1", handler: "sleep", params: { seconds: 600 } }),
    ]);
    const row = await waitFor(
      async () => {
        const { rows } = await database.db.query<{ busy: number }>(
          "SELECT * FROM dagapp.dag_workers WHERE worker_id = 'registered' AND busy > 0",
        );
        return rows[0];
      },
      { what: "a busy worker" },
    );
    expect(row).toMatchObject({ queues: [queue], slots: 7, busy: 1, pid: worker.pid });
    expect(row).toHaveProperty("version", expect.stringMatching(/^\d+\.\d+\.\d+/));
    expect(row).toHaveProperty("gdal.engine", expect.stringMatching(/^(?:native|wasm)$/));
    const kinds = /^(?:bubblewrap|namespaces|wasm)$/;
    expect(row).toHaveProperty("gdal.sandbox", expect.stringMatching(kinds));
  });

  it("stores the log lines of a task, and its progress while it runs", async () => {
    const queue = await makeQueue();
    await broker.publish(queue, [
      taskOut({
        task_id: "lines-1",
        node_id: "node-lines",
        handler: "multi_phase",
        params: { phases: 2, seconds_per_phase: 0.9 },
      }),
    ]);
    await startWorker(queue);
    await waitFor(
      async () => {
        const { rows } = await database.db.query<{ progress_percent: number | null }>(
          "SELECT progress_percent FROM dagapp.dag_queue_leases WHERE message_key = 'lines-1'",
        );
        return rows[0]?.progress_percent === 50;
      },
      { what: "half of the progress" },
    );
    await resultOf("lines-1");
    const lines = await waitFor(
      async () => {
        const { rows } = await database.db.query<{ level: string; message: string }>(
          "SELECT level, message FROM dagapp.dag_task_logs WHERE task_id = 'lines-1' ORDER BY log_id",
        );
        return rows.length === 2 && rows;
      },
      { what: "two lines" },
    );
    expect(lines.map(({ message }) => message)).toEqual([
      "phase 1 of 2 is done",
      "phase 2 of 2 is done",
    ]);
  });

  it("refuses wrong settings, all at once, and says how to correct them", async () => {
    const worker = await startWorkerProcess({
      DATABASE_URL: "mysql://x",
      WORKER_CONCURRENCY: "none",
    });
    workers.push(worker);
    expect(await worker.ended).toBe(2);
    expect(worker.output()).toMatch(
      /^ {2}DATABASE_URL: .*postgres:\/\/.*\n {2}WORKER_CONCURRENCY: /m,
    );
  });
});
