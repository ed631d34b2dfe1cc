import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { TestDatabase } from "../../../test/support/database.ts";
import { createTestDatabase } from "../../../test/support/database.ts";
import { TestEngine } from "../../../test/support/engine.ts";
import { temporaryFolders } from "../../../test/support/embedded.ts";
import { PushingWorker } from "../../../test/support/pushing-worker.ts";
import { readEvents } from "../../adapters/postgres/queries/history.ts";
import type { TaskMessage } from "../../core/messages.ts";
import type { JsonObject } from "../../core/model/json.ts";
import { cancelJob } from "../jobs/cancel-job.ts";
import { PushedTicks } from "./tick-pushed.ts";
import type { TickReport } from "./tick.ts";

const workflows: Record<string, string> = {
  chain: `nodes:
  a: { handler: echo, retry: { max_attempts: 1, initial_delay_seconds: 30 }, next: b }
  b: { handler: echo, params: { from: "{{ nodes.a.output.n }}" } }
outputs: { n: "{{ nodes.b.output.n }}" }`,
  fan: `nodes:
  split:
    type: fan_out
    source: "{{ inputs.list }}"
    task: { handler: echo, params: { item: "{{ item }}" }, retry: { max_attempts: 0 } }
    next: join
  join: { type: fan_in }
outputs: { all: "{{ nodes.join.output.results }}" }`,
  collect: `nodes:
  split:
    type: fan_out
    source: "{{ inputs.list }}"
    task: { handler: echo }
    next: join
  join: { type: fan_in }`,
  rename: `nodes:
  split:
    type: fan_out
    source: "{{ inputs.list }}"
    task: { handler: echo }
    next: join
  join: { type: fan_in }
outputs: { join: "{{ nodes.join.output.count }}", all: "{{ nodes.join.output }}" }`,
};

describe("a pushed report", () => {
  let database: TestDatabase;
  let engine: TestEngine;
  let worker: PushingWorker;
  const folders = temporaryFolders();

  beforeAll(async () => {
    database = await createTestDatabase();
    const files = Object.entries(workflows).map(([id, text]) => [`${id}.yaml`, text] as const);
    engine = await TestEngine.create(database, await folders.makeWith(Object.fromEntries(files)));
    await engine.tick();
  });
  afterAll(async () => {
    await engine.close();
    await database.drop();
    await folders.remove();
  });
  beforeEach(() => {
    worker = new PushingWorker(engine);
  });
  afterEach(() => {
    worker.close();
  });

  /** Settles the reports that have arrived; answers how many jobs the last transaction has written. */
  const settle = async () => {
    const ticks: Promise<TickReport>[] = [];
    const pushedTicks = new PushedTicks(engine.deps, (ticked) => ticks.push(ticked));
    await pushedTicks.advance();
    await pushedTicks.idle();
    return (await ticks.at(-1))?.jobs ?? 0;
  };
  const submit = async (
    workflow: string,
    inputs: JsonObject = {},
    extra: Parameters<TestEngine["submit"]>[2] = {},
  ) => (await engine.submit(workflow, inputs, extra)).job_id;

  it("is settled from the cached state, and the next task is pushed", async () => {
    const id = await submit("chain");
    const first = worker.next();
    worker.report(first, { n: 1 });
    expect(await settle()).toBe(1);
    expect(worker.recorded).toEqual([first.message_id]);
    const second = worker.next();
    expect(JSON.parse(second.body)).toMatchObject({ node_id: "b", params: { from: 1 } });
    worker.report(second, { n: 2 });
    expect(await settle()).toBe(1);
    expect(await engine.job(id)).toMatchObject({ status: "completed", result_data: { n: 2 } });
    const { rows } = await database.db.query<{ same: boolean }>(
      `SELECT r.started_at = $2 AND r.worker_id = 'worker' AND r.output = '{"n": 1}' AS same
       FROM dagapp.dag_attempts r WHERE r.job_id = $1 AND r.node_id = 'a'`,
      [id, first.leased_at],
    );
    expect(rows).toEqual([{ same: true }]);
    const { rows: results } = await database.db.query(
      `SELECT FROM dagapp.dag_task_results WHERE job_id = $1`,
      [id],
    );
    expect(results).toEqual([]);
    await engine.expectReplay(id);
  });

  it("writes the events of its job as one row, from which each is read by itself", async () => {
    const id = await submit("chain");
    for (const n of [1, 2]) {
      worker.report(worker.next(), { n });
      expect(await settle()).toBe(1);
    }
    const { rows } = await database.db.query(
      `SELECT seq, event_type, earlier FROM dagapp.dag_job_events WHERE job_id = $1 ORDER BY seq`,
      [id],
    );
    expect(rows).toMatchObject([
      {
        seq: 3,
        event_type: "node_dispatched",
        earlier: [
          ["job_created", "info", null, null, {}],
          ["job_started", "info"],
        ],
      },
      { seq: 5, event_type: "node_dispatched", earlier: [["node_completed", "success", "a"]] },
      { seq: 7, event_type: "job_completed", earlier: [["node_completed", "success", "b"]] },
    ]);
    const { events, next: after } = await readEvents(database.db, id, { after: 1 }, 3);
    expect([after, events]).toMatchObject([
      4,
      [
        { seq: 2, event_type: "job_started", node_id: null, task_id: null, event_data: null },
        {
          seq: 3,
          event_type: "node_dispatched",
          event_status: "info",
          node_id: "a",
          task_id: `${id}_a_0`,
          event_data: { attempt: 0 },
        },
        {
          seq: 4,
          event_type: "node_completed",
          event_status: "success",
          node_id: "a",
          task_id: null,
          event_data: null,
        },
      ],
    ]);
    const created = await readEvents(database.db, id, { after: 0, event_type: "job_created" }, 3);
    expect(created.events).toMatchObject([
      { seq: 1, node_id: null, event_data: { workflow_id: "chain" } },
    ]);
    await engine.expectReplay(id);
  });

  it("of a job with a correlation id and a callback takes the same path", async () => {
    const id = await submit(
      "chain",
      {},
      { correlation_id: "request", callback_url: "https://partner.example/done" },
    );
    for (const n of [1, 2]) {
      worker.report(worker.next(), { n });
      expect(await settle()).toBe(1);
    }
    expect((await engine.job(id)).status).toBe("completed");
    const { rows } = await database.db.query<{ event_type: string }>(
      `SELECT event_type FROM dagapp.callback_deliveries WHERE job_id = $1`,
      [id],
    );
    expect(rows).toEqual([{ event_type: "job.completed" }]);
    await engine.expectReplay(id);
  });

  it("of a failure plans the retry by the database's clock", async () => {
    const id = await submit("chain");
    worker.report(worker.next(), { failed: "boom" });
    expect(await settle()).toBe(1);
    const { rows } = await database.db.query<{ status: string; seconds: number }>(
      `SELECT status, extract(epoch FROM retry_at - now())::float8 AS seconds
       FROM dagapp.dag_node_states WHERE job_id = $1 AND node_id = 'a'`,
      [id],
    );
    expect(rows[0]?.status).toBe("ready");
    expect(rows[0]?.seconds).toBeGreaterThan(10);
    expect(rows[0]?.seconds).toBeLessThan(60);
    const { rows: results } = await database.db.query(
      `SELECT status, worker_id FROM dagapp.dag_task_results WHERE job_id = $1`,
      [id],
    );
    expect(results).toEqual([{ status: "failed", worker_id: "worker" }]);
    await engine.expectReplay(id);
  });

  it("of a fan-out's children moves their outputs, and the fan-in reads them all", async () => {
    const id = await submit("fan", { list: [10, 11, 12] });
    expect(worker.pushed.length).toBe(3);
    worker.report(worker.next(), { n: 1 });
    expect(await settle()).toBe(1);
    worker.report(worker.next(), { n: 2 });
    worker.report(worker.next(), { n: 3 });
    expect(await settle()).toBe(1);
    expect(worker.recorded).toHaveLength(3);
    expect(await engine.job(id)).toMatchObject({
      status: "completed",
      result_data: { all: [{ n: 1 }, { n: 2 }, { n: 3 }] },
    });
    const { rows } = await database.db.query(
      `SELECT children FROM dagapp.dag_job_events
       WHERE job_id = $1 AND children IS NOT NULL ORDER BY seq`,
      [id],
    );
    expect(rows).toEqual([{ children: [0] }, { children: [1, 2] }]);
    await engine.expectReplay(id);
  });

  // What a fan-in collects is copied from the result, where the result has it under the fan-in's name.
  it.each([
    ["collect", { join: { results: [{ n: 1 }, { n: 2 }], count: 2 } }],
    ["rename", { join: 2, all: { results: [{ n: 1 }, { n: 2 }], count: 2 } }],
  ])("of the last child leaves its fan-in what it collected (%s)", async (workflow, result) => {
    const id = await submit(workflow, { list: [1, 2] });
    worker.report(worker.next(), { n: 1 });
    worker.report(worker.next(), { n: 2 });
    expect(await settle()).toBe(1);
    expect((await engine.job(id)).result_data).toMatchObject(result);
    const { rows } = await database.db.query(
      `SELECT output FROM dagapp.dag_node_states WHERE job_id = $1 AND node_id = 'join'`,
      [id],
    );
    expect(rows).toMatchObject([{ output: { results: [{ n: 1 }, { n: 2 }], count: 2 } }]);
    await engine.expectReplay(id);
  });

  // Outputs are kept until the fan-in collects them, if they are small; larger ones are read from the rows.
  it.each([100, 40_000])(
    "of the last child lets its fan-in collect outputs of %i bytes",
    async (size) => {
      const id = await submit("fan", { list: Array.from({ length: 120 }, (_, n) => n) });
      for (const [n, message] of worker.pushed.splice(0).toReversed().entries()) {
        worker.report(message, { n, zeta: 1.5, a: `é${"e".repeat(size)}` });
        if (n === 50) expect(await settle()).toBe(1);
      }
      expect(await settle()).toBe(1);
      const { rows } = await database.db.query<{ output: JsonObject }>(
        `SELECT output FROM dagapp.dag_node_states WHERE job_id = $1
       ORDER BY node_id = 'join' DESC, node_id = 'split' DESC, fan_out_index`,
        [id],
      );
      const [join, , ...children] = rows.map(({ output }) => output);
      const collected = await engine.deps.outputs.resolve(join!);
      expect(collected).toEqual({ results: children, count: 120 });
      await engine.expectReplay(id);
    },
  );

  it("of a job that has left the cache is settled from the rows of the job", async () => {
    const [chain, fan] = [await submit("chain"), await submit("fan", { list: [1, 2] })];
    for (const n of [1, 2]) {
      for (const id of [chain, fan]) engine.deps.cache.take(id);
      worker.report(worker.next(), { n });
      worker.report(worker.next(), { n });
      expect(await settle()).toBe(2);
    }
    expect(worker.refused).toEqual([]);
    expect(await engine.job(chain)).toMatchObject({ status: "completed", result_data: { n: 2 } });
    const { rows } = await database.db.query(
      `SELECT FROM dagapp.dag_task_results WHERE job_id = ANY ($1)`,
      [[chain, fan]],
    );
    expect(rows).toEqual([]);
    for (const id of [chain, fan]) await engine.expectReplay(id);
  });

  it.each([
    ["belongs to another orchestrator", "owner_id = 'another'"],
    ["waits to be evaluated", "dirty = true"],
  ])("of a job that has left the cache and %s is refused alone", async (_, change) => {
    const [changed, other] = [await submit("chain"), await submit("chain")];
    for (const id of [changed, other]) engine.deps.cache.take(id);
    await database.db.query(`UPDATE dagapp.dag_jobs SET ${change} WHERE job_id = $1`, [changed]);
    const [first, second] = [worker.next(), worker.next()];
    worker.report(first, { n: 1 });
    worker.report(second, { n: 1 });
    expect(await settle()).toBe(1);
    expect([worker.recorded, worker.refused]).toEqual([[second.message_id], [first.message_id]]);
    expect(await engine.statuses(changed)).toMatchObject({ a: "dispatched" });
    expect(await engine.statuses(other)).toMatchObject({ a: "completed" });
  });

  it("is refused alone when the cached state does not suffice", async () => {
    const [fan, chain] = [await submit("fan", { list: [1] }), await submit("chain")];
    const [child, first] = [worker.next(), worker.next()];
    worker.report(child, { failed: "children that fail are read from the database" });
    worker.report(first, { n: 1 });
    expect(await settle()).toBe(1);
    expect(worker.refused).toEqual([child.message_id]);
    expect(worker.recorded).toEqual([first.message_id]);
    expect(await engine.statuses(chain)).toMatchObject({ a: "completed", b: "dispatched" });
    expect(await engine.statuses(fan)).toMatchObject({ split__0: "dispatched" });
  });

  it("is refused when another writer changed the job, and the next tick sees that change", async () => {
    const id = await submit("chain");
    await cancelJob(engine.deps, id, "enough");
    const first = worker.next();
    worker.report(first, { n: 1 });
    expect(await settle()).toBe(0);
    expect([worker.recorded, worker.refused, worker.pushed]).toEqual([[], [first.message_id], []]);
    await engine.tick();
    expect((await engine.job(id)).status).toBe("cancelled");
    await engine.expectReplay(id);
  });

  it("is refused with its batch when a lease is gone, and nothing is recorded", async () => {
    const [lost, kept] = [await submit("chain"), await submit("chain")];
    const [late, good] = [worker.next(), worker.next()];
    await database.db.query(`DELETE FROM dagapp.dag_queue_leases WHERE message_id = $1`, [
      late.message_id,
    ]);
    worker.report(late, { n: 1 });
    worker.report(good, { n: 1 });
    expect(await settle()).toBe(0);
    expect(worker.refused).toEqual([late.message_id, good.message_id]);
    expect(await engine.statuses(lost)).toMatchObject({ a: "dispatched", b: "pending" });
    expect(await engine.statuses(kept)).toMatchObject({ a: "dispatched", b: "pending" });
  });

  it("of a child whose row is another than expected changes nothing", async () => {
    const id = await submit("fan", { list: [1] });
    const child = worker.next();
    await database.db.query(
      `UPDATE dagapp.dag_node_states SET attempt = 1, task_id = job_id || '_split__0_1'
       WHERE job_id = $1 AND node_id = 'split__0'`,
      [id],
    );
    worker.report(child, { n: 1 });
    expect(await settle()).toBe(0);
    expect(worker.refused).toEqual([child.message_id]);
    const { rows } = await database.db.query(`SELECT FROM dagapp.dag_attempts WHERE job_id = $1`, [
      id,
    ]);
    expect(rows.length).toBe(0);
  });

  it("that comes twice is recorded once", async () => {
    const id = await submit("chain");
    const first = worker.next();
    worker.report(first, { n: 1 });
    worker.report(first, { n: 7 });
    expect(await settle()).toBe(1);
    worker.report(first, { n: 8 });
    expect(await settle()).toBe(0);
    expect(worker.refused).toEqual([first.message_id, first.message_id]);
    const { rows } = await database.db.query<{ n: number }>(
      `SELECT (output ->> 'n')::int AS n FROM dagapp.dag_attempts WHERE job_id = $1`,
      [id],
    );
    expect(rows).toEqual([{ n: 1 }]);
    await engine.expectReplay(id);
  });

  it("of an output that is no JSON is refused, and the job stays as it was", async () => {
    const id = await submit("chain");
    const { body, message_id, deliveries, leased_at } = worker.next();
    const { job_id, node_id, task_id } = JSON.parse(body) as TaskMessage;
    const lease = { message_id, deliveries };
    const reports = [
      {
        job_id,
        node_id,
        task_id,
        lease,
        leased_at,
        status: "completed" as const,
        output: "{",
        error: null,
      },
    ];
    engine.connections.receive(worker.connection, { reports });
    expect(await settle()).toBe(0);
    expect(worker.refused).toEqual([message_id]);
    expect(await engine.statuses(id)).toMatchObject({ a: "dispatched" });
  });

  it("of a job that another session keeps locked is refused, and does not stop later ones", async () => {
    const held = await submit("chain");
    const first = worker.next();
    const free = await submit("chain");
    const other = worker.next();
    await database.db.transaction(async (session) => {
      await session.query("SELECT FROM dagapp.dag_jobs WHERE job_id = $1 FOR UPDATE", [held]);
      worker.report(first, { n: 1 });
      expect(await settle()).toBe(0);
      expect(worker.refused).toEqual([first.message_id]);
      worker.report(first, { n: 1 });
      worker.report(other, { n: 1 });
      expect(await settle()).toBe(1);
      expect(worker.recorded).toEqual([other.message_id]);
    });
    expect((await engine.statuses(held))["a"]).toBe("dispatched");
    expect((await engine.statuses(free))["a"]).toBe("completed");
  });
});
