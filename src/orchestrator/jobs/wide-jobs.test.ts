/** What readers and the recovery read of a job does not grow with the children of its fan-outs. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TestDatabase } from "../../../test/support/database.ts";
import { createTestDatabase } from "../../../test/support/database.ts";
import { temporaryFolders } from "../../../test/support/embedded.ts";
import { TestEngine } from "../../../test/support/engine.ts";
import type { Transaction } from "../../adapters/postgres/queryable.ts";
import { readJobNodes } from "../../adapters/postgres/queries/job-nodes.ts";
import { findJob } from "../../adapters/postgres/queries/jobs.ts";
import { readChildren } from "../../adapters/postgres/queries/nodes.ts";
import { findTask, readCurrentTasks } from "../../adapters/postgres/queries/tasks.ts";
import { findDispatched } from "../../adapters/postgres/repositories/nodes.ts";
import { taskId } from "../../core/model/node.ts";
import { StateCache } from "../engine/job-state.ts";
import { recover } from "../engine/recover.ts";
import { retryJob } from "./rerun-job.ts";

const fan = `nodes:
  split:
    type: fan_out
    source: "{{ inputs.n | range }}"
    task: { handler: echo, queue: dag-worker-tasks, params: { item: "{{ item }}" } }
inputs: { n: { type: integer } }`;

const alike = `nodes:
${[["split", 1] as const, ["split_", 2] as const, ["split__b", 3] as const]
  .map(
    ([id, n]) => `  ${id}:
    type: fan_out
    source: "{{ ${n} | range }}"
    task: { handler: echo, queue: dag-worker-tasks }`,
  )
  .join("\n")}`;

const folders = temporaryFolders();
let database: TestDatabase;
let engine: TestEngine;
let narrow: string;
let wide: string;

beforeAll(async () => {
  database = await createTestDatabase();
  const workflows = await folders.makeWith({ "fan.yaml": fan, "alike.yaml": alike });
  engine = await TestEngine.create(database, workflows, { fanOutBlock: 3000 });
  narrow = (await engine.submit("fan", { n: 5 })).job_id;
  wide = (await engine.submit("fan", { n: 3000 })).job_id;
  await lease(narrow, 3);
  await lease(wide, 3);
});
afterAll(async () => {
  await engine.close();
  await database.drop();
  await folders.remove();
});

/** A worker that holds some tasks of a job. */
async function lease(jobId: string, most: number): Promise<void> {
  await database.db.query(
    `WITH taken AS (
       DELETE FROM dagapp.dag_queue_ready WHERE message_id IN (
         SELECT message_id FROM dagapp.dag_queue_ready WHERE group_key = $1
         ORDER BY message_id LIMIT $2)
       RETURNING *)
     INSERT INTO dagapp.dag_queue_leases (message_id, queue, priority, deliveries, released,
       message_key, group_key, headers, body, enqueued_at, holder, until)
     SELECT message_id, queue, priority, 1, released, message_key, group_key, headers, body,
       enqueued_at, 'worker', now() + interval '1 minute' FROM taken`,
    [jobId, most],
  );
}

/** How many rows of nodes and leases a function reads, as the server counts them. */
async function readsOf(run: (tx: Transaction) => Promise<unknown>): Promise<number> {
  return database.db.transaction(async (tx) => {
    await run(tx);
    const { rows } = await tx.query<{ count: number }>(
      `SELECT sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int AS count
       FROM pg_stat_xact_user_tables WHERE relname IN ('dag_node_states', 'dag_queue_leases')`,
    );
    return rows[0]?.count ?? 0;
  });
}

async function jobOf(jobId: string) {
  const job = await findJob(database.db, jobId);
  if (job === undefined) throw new Error("no such job");
  return { job, graph: await engine.deps.graphs.graphOf(job.workflow_hash) };
}

describe("a fan-out that is created in blocks", () => {
  const ofBlock = 4;
  const total = 11;
  let blocks: TestEngine;
  beforeAll(async () => {
    const workflows = await folders.makeWith({ "fan.yaml": fan });
    blocks = await TestEngine.create(database, workflows, { fanOutBlock: ofBlock });
  });
  afterAll(() => blocks.close());

  /** Completes the tasks that are queued, one batch after the other; answers the nodes that ran. */
  async function work(jobId: string, batches = Infinity): Promise<string[]> {
    const ran: string[] = [];
    for (let batch = 0; batch < batches; batch += 1) {
      const messages = await blocks.take(jobId);
      if (messages.length === 0) break;
      ran.push(...messages.map(({ node_id }) => node_id));
      await blocks.completeAll(messages.map((message) => ({ message, output: {} })));
      await blocks.tick();
    }
    return ran;
  }
  const children = Array.from({ length: total }, (_, index) => `split__${index}`);

  it("runs each child once, counts those without a row, and replays", async () => {
    const { job_id } = await blocks.submit("fan", { n: total });
    expect(Object.keys(await blocks.statuses(job_id))).toHaveLength(ofBlock + 1);
    const { job, graph } = await jobOf(job_id);
    const nodes = await readJobNodes(database.db, job, graph);
    expect(nodes.find(({ node_id }) => node_id === "split")?.children).toMatchObject({
      total,
      ready: total - ofBlock,
      dispatched: ofBlock,
    });
    expect((await work(job_id)).sort()).toEqual([...children].sort());
    expect(await blocks.job(job_id)).toMatchObject({ status: "completed" });
    await blocks.expectReplay(job_id);
  });

  it("goes on in a job that retries it, also where another orchestrator does", async () => {
    const { job_id } = await blocks.submit("fan", { n: total });
    const first = await work(job_id, 1);
    const [message] = await blocks.take(job_id);
    await blocks.fail(message!, { category: "permanent" });
    await blocks.tick();
    expect(await blocks.job(job_id)).toMatchObject({ status: "failed" });
    const retried = await retryJob({ ...blocks.deps, cache: new StateCache() }, job_id);
    await blocks.tick();
    const again = await work(retried.job_id);
    expect([...first, ...again].sort()).toEqual([...children].sort());
    expect(await blocks.job(retried.job_id)).toMatchObject({ status: "completed" });
  });
});

describe("a job with many children", () => {
  it.each<[string, (tx: Transaction, jobId: string) => Promise<unknown>]>([
    [
      "its nodes",
      async (tx, jobId) => {
        const { job, graph } = await jobOf(jobId);
        return readJobNodes(tx, job, graph);
      },
    ],
    ["the tasks that run", (tx, jobId) => readCurrentTasks(tx, [jobId], 10)],
    ["a task by its id", (tx, jobId) => findTask(tx, taskId(jobId, "split__4", 0))],
    [
      "a page of children",
      (tx, jobId) => readChildren(tx, jobId, { parent: "split", after: 1 }, 2),
    ],
  ])("is read as fast as one with few: %s", async (_what, read) => {
    const few = await readsOf((tx) => read(tx, narrow));
    const many = await readsOf((tx) => read(tx, wide));
    expect(few).toBeGreaterThan(0);
    // The leases of all jobs may be read, and more than those are not.
    expect(many).toBeLessThanOrEqual(few + 10);
  });

  it("tells the same of its tasks and nodes", async () => {
    const tasks = await readCurrentTasks(database.db, [wide], 10);
    expect(tasks.map(({ node_id }) => node_id)).toEqual(["split__0", "split__1", "split__2"]);
    expect(await findTask(database.db, taskId(wide, "split__17", 0))).toEqual({
      job_id: wide,
      node_id: "split__17",
    });
    const { job, graph } = await jobOf(wide);
    const split = (await readJobNodes(database.db, job, graph)).find(
      ({ node_id }) => node_id === "split",
    );
    expect(split?.children).toMatchObject({ total: 3000, running: 3, dispatched: 2997 });
  });

  it("counts the running children of fan-outs whose names begin alike", async () => {
    const { job_id } = await engine.submit("alike");
    await lease(job_id, 6);
    const { job, graph } = await jobOf(job_id);
    const nodes = await readJobNodes(database.db, job, graph);
    const counts = nodes.map(({ node_id, children }) => [node_id, children?.running]);
    expect(Object.fromEntries(counts)).toMatchObject({ split: 1, split_: 2, split__b: 3 });
  });

  it("is searched for lost messages in parts", async () => {
    await database.db.query(
      `UPDATE dagapp.dag_jobs SET created_at = now() - interval '1 hour' WHERE job_id = $1`,
      [wide],
    );
    await database.db.query(
      `UPDATE dagapp.dag_node_states SET dispatched_at = now() - interval '1 hour'
       WHERE job_id = $1 AND node_id IN ('split__1500', 'split__2999')`,
      [wide],
    );
    const found: string[] = [];
    let after: { job_id: string; node_id: string } | undefined;
    let rounds = 0;
    do {
      const { db, ownerId } = engine.deps;
      const part = await findDispatched(db, ownerId, 300, after, 1000);
      found.push(...part.tasks.map(({ task_id }) => task_id));
      after = part.last;
      rounds += 1;
    } while (after !== undefined);
    expect(found.sort()).toEqual([taskId(wide, "split__1500", 0), taskId(wide, "split__2999", 0)]);
    expect(rounds).toBe(4);
  });

  it("fails a task whose message is gone, and no other", async () => {
    await database.db.query(`DELETE FROM dagapp.dag_queue_ready WHERE message_key = $1`, [
      taskId(wide, "split__1500", 0),
    ]);
    expect(await recover(engine.deps)).toMatchObject({ lost: 1, searched: undefined });
  });

  it("does not keep the search for overdue tasks", async () => {
    await lease(wide, 1000);
    await database.db.query(
      `UPDATE dagapp.dag_queue_leases SET leased_at = now() - interval '1 day'
       WHERE message_key = $1`,
      [taskId(wide, "split__7", 0)],
    );
    const reads = await readsOf((tx) => engine.deps.broker.takeOverdue(tx, 30));
    expect(reads).toBeLessThan(2500);
  });
});
