import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/core/model/json.ts";
import type { TestDatabase } from "../support/database.ts";
import { createTestDatabase } from "../support/database.ts";
import { temporaryFolders } from "../support/embedded.ts";
import { Fleet, finished, submit } from "../support/programs.ts";
import { expectReplay } from "../support/replay.ts";
import { waitFor } from "../support/wait.ts";

const folders = temporaryFolders();
let database: TestDatabase;
let fleet: Fleet;

beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(async () => {
  await fleet.stop();
  await database.drop();
});
afterAll(() => folders.remove());

describe("a fan-out of 10,000", () => {
  it("completes in index order, with flat memory in the orchestrator", async () => {
    fleet = new Fleet(database.url);
    const orchestrator = await fleet.orchestrator();
    await fleet.worker({ WORKER_CONCURRENCY: "30" });
    await finished(orchestrator, await submit(orchestrator, "fan_out_test", { item_list: [1] }));
    const before = await orchestrator.memory();
    const item_list = Array.from({ length: 10_000 }, (_, index) => index);
    const id = await submit(orchestrator, "fan_out_test", { item_list });
    let most = before;
    await waitFor(
      async () => {
        most = Math.max(most, await orchestrator.memory());
        const { status } = await orchestrator.client.getJob({ params: { job_id: id } });
        return status === "completed";
      },
      { timeoutMs: 120_000, what: "the end of the fan-out" },
    );
    const { rows } = await database.db.query<{
      result_data: JsonObject;
      total: number;
      once: boolean;
    }>(
      `SELECT result_data,
         (SELECT count(*) FROM dagapp.dag_node_states n
          WHERE n.job_id = j.job_id AND n.parent_node_id = 'split') AS total,
         (SELECT count(*) = count(DISTINCT node_id) FROM dagapp.dag_unpacked_events e
          WHERE e.job_id = j.job_id AND event_type = 'node_completed') AS once
       FROM dagapp.dag_jobs j WHERE job_id = $1`,
      [id],
    );
    expect(rows[0]).toMatchObject({ total: 10_000, once: true });
    // So large a result is kept in storage, and the row refers to it.
    const reference = rows[0]!.result_data["$ref"] as string;
    const stored = path.join(fleet.dataDirectory, "storage", reference);
    const { aggregate } = JSON.parse(await readFile(stored, "utf8")) as {
      aggregate: { results: { echoed_params: { item_value: number } }[] };
    };
    const values = aggregate.results.map(({ echoed_params }) => echoed_params.item_value);
    expect(values).toEqual(item_list);
    expect(most - before).toBeLessThan(250);
    await expectReplay(database.db, id);
  });
});

describe("two orchestrators and four workers", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await folders.make();
    await writeFile(
      path.join(folder, "share.yaml"),
      `nodes:
  a: { handler: echo, params: { n: "{{ inputs.n }}" }, next: [b, c] }
  b: { handler: sleep, params: { seconds: 0.05 } }
  c: { handler: echo }
  d: { handler: echo, depends_on: [b, c], params: { n: "{{ nodes.a.output.echoed_params.n }}" } }`,
    );
  });

  it("share 500 jobs, also when one of each is killed in the middle", async () => {
    fleet = new Fleet(database.url, folder);
    const orchestrators = [await fleet.orchestrator(), await fleet.orchestrator()];
    const workers = [];
    for (let i = 0; i < 4; i++) workers.push(await fleet.worker());
    const ids: string[] = [];
    for (let n = 0; n < 500; n += 20) {
      const batch = Array.from({ length: 20 }, (_, i) =>
        submit(orchestrators[i % 2]!, "share", { n: n + i }),
      );
      ids.push(...(await Promise.all(batch)));
    }
    orchestrators[0]!.signal("SIGKILL");
    workers[0]!.signal("SIGKILL");
    await waitFor(
      async () => {
        const { rows } = await database.db.query<{ left: number }>(
          `SELECT count(*) AS left FROM dagapp.dag_jobs WHERE status <> 'completed'`,
        );
        return rows[0]?.left === 0;
      },
      { timeoutMs: 90_000, what: "all jobs to complete" },
    );
    const { rows } = await database.db.query<{ jobs: number; completions: number; owners: number }>(
      `SELECT count(DISTINCT job_id) AS jobs, count(*) AS completions,
         (SELECT count(*) FROM dagapp.dag_unpacked_events WHERE event_type = 'job_claimed') AS owners
       FROM dagapp.dag_unpacked_events
       WHERE event_type = 'node_completed' AND node_id IN ('a', 'b', 'c', 'd')`,
    );
    // Each success is recorded once: 500 jobs of four tasks.
    expect(rows[0]).toMatchObject({ jobs: 500, completions: 2000 });
    expect(rows[0]!.owners).toBeGreaterThan(0);
    for (const id of ids.filter((_, index) => index % 25 === 0)) {
      await expectReplay(database.db, id);
    }
  });
});

describe("a running task", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await folders.make();
    await writeFile(
      path.join(folder, "long.yaml"),
      "nodes: { nap: { handler: sleep, params: { seconds: 600 } } }",
    );
    await writeFile(
      path.join(folder, "phases.yaml"),
      `nodes:
  work: { handler: multi_phase, params: { phases: 6, seconds_per_phase: 0.4 } }`,
    );
  });

  const running = (id: string) =>
    waitFor(
      async () => {
        const { rows } = await database.db.query(
          `SELECT FROM dagapp.dag_queue_leases WHERE group_key = $1`,
          [id],
        );
        return rows.length > 0;
      },
      { what: "the task to run" },
    );

  it("is stopped by a cancel within a renewal", async () => {
    fleet = new Fleet(database.url, folder);
    const orchestrator = await fleet.orchestrator();
    const worker = await fleet.worker();
    const id = await submit(orchestrator, "long");
    await running(id);
    await orchestrator.client.cancelJob({ params: { job_id: id }, body: { reason: "enough" } });
    expect(await finished(orchestrator, id)).toMatchObject({ status: "cancelled" });
    await waitFor(
      async () => {
        const { rows } = await database.db.query<{ busy: number }>(
          `SELECT busy FROM dagapp.dag_workers`,
        );
        return rows[0]?.busy === 0;
      },
      { what: "the worker to be free" },
    );
    expect(worker.output()).not.toContain("FATAL");
    await expectReplay(database.db, id);
  });

  it("goes on behind its last checkpoint when its worker is killed", async () => {
    fleet = new Fleet(database.url, folder);
    const orchestrator = await fleet.orchestrator();
    const first = await fleet.worker();
    const id = await submit(orchestrator, "phases");
    await waitFor(
      async () => {
        const { rows } = await database.db.query(
          `SELECT FROM dagapp.dag_checkpoints WHERE job_id = $1`,
          [id],
        );
        return rows.length >= 2;
      },
      { what: "two checkpoints" },
    );
    first.signal("SIGKILL");
    await fleet.worker();
    const job = await finished(orchestrator, id);
    expect(job.status).toBe("completed");
    const { phases_completed, resumed_from } = (job.result_data as Record<string, JsonObject>)[
      "work"
    ]!;
    expect(phases_completed).toBe(6);
    expect(resumed_from).toBeGreaterThanOrEqual(2);
    await expectReplay(database.db, id);
  });

  it("goes back to the queue at once from a worker that stops", async () => {
    fleet = new Fleet(database.url, folder);
    const orchestrator = await fleet.orchestrator();
    const first = await fleet.worker();
    const id = await submit(orchestrator, "phases");
    await running(id);
    first.signal("SIGTERM");
    expect(await first.gone).toBe(0);
    await fleet.worker();
    expect(await finished(orchestrator, id)).toMatchObject({ status: "completed" });
    await expectReplay(database.db, id);
  });
});

describe("a long backlog", () => {
  it("causes neither a time-out nor a duplicate", async () => {
    const folder = await folders.make();
    await writeFile(
      path.join(folder, "brief.yaml"),
      "nodes: { a: { handler: echo, timeout_seconds: 1 } }",
    );
    fleet = new Fleet(database.url, folder);
    const orchestrator = await fleet.orchestrator();
    const ids = await Promise.all(Array.from({ length: 50 }, () => submit(orchestrator, "brief")));
    await database.db.query(
      `UPDATE dagapp.dag_queue_ready SET enqueued_at = now() - interval '1 hour'`,
    );
    await database.db.query(
      `UPDATE dagapp.dag_node_states SET dispatched_at = now() - interval '1 hour'
       WHERE status = 'dispatched'`,
    );
    // Several rounds of recovery pass before a worker starts.
    const ticks = async () => (await orchestrator.client.getOrchestratorStatus()).ticks;
    const start = await ticks();
    await waitFor(async () => (await ticks()) > start + 2, { what: "the orchestrator to look" });
    await fleet.worker();
    for (const id of ids) expect((await finished(orchestrator, id)).status).toBe("completed");
    const { rows } = await database.db.query<{ attempts: number; results: number }>(
      `SELECT (SELECT max(attempt) FROM dagapp.dag_node_states) AS attempts,
         (SELECT count(*) FROM dagapp.dag_attempts) AS results`,
    );
    expect(rows[0]).toEqual({ attempts: 0, results: 50 });
  });
});

describe("the job queue", () => {
  it("makes a job of a message once, and dead-letters a message that cannot become one", async () => {
    fleet = new Fleet(database.url);
    const orchestrator = await fleet.orchestrator();
    await fleet.worker();
    const put = (id: string, body: unknown) =>
      database.db.query(
        `INSERT INTO dagapp.dag_queue_ready (queue, message_key, body) VALUES ('dag-jobs', $1, $2)`,
        [id, typeof body === "string" ? body : JSON.stringify(body)],
      );
    const good = { workflow_id: "hello_world", inputs: {}, correlation_id: "c-1" };
    await put("m1", good);
    await put("m1", good);
    await put("m2", { workflow_id: "nowhere" });
    await put("m3", { workflow_id: "data_pipeline_test", inputs: {} });
    await put("m4", "{");
    await put("m5", { workflow_id: "hello_world", message: "Hi" });
    await database.db.query(`SELECT pg_notify('dag_queue_dag-jobs', '')`);
    const dead = await waitFor(
      async () => {
        const { items } = await orchestrator.client.listDeadLetters({
          params: { queue: "dag-jobs" },
        });
        return items.length === 4 ? items : undefined;
      },
      { what: "four dead letters" },
    );
    expect(dead.map(({ reason }) => reason).sort()).toEqual([
      "InvalidInputs",
      "InvalidMessage",
      "InvalidMessage",
      "WorkflowNotFound",
    ]);
    const details = dead.flatMap(({ reason, detail }) =>
      reason === "InvalidMessage" ? detail : [],
    );
    expect(details.sort()).toEqual(['Unrecognized key: "message"', "the body is not JSON"]);
    const jobs = await waitFor(
      async () => {
        const { items } = await orchestrator.client.listJobs({ query: { correlation_id: "c-1" } });
        return items.length > 0 && items[0]?.status === "completed" ? items : undefined;
      },
      { what: "the job" },
    );
    expect(jobs.length).toBe(1);
  });
});
