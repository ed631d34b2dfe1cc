import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { TestDatabase } from "../../../test/support/database.ts";
import { createTestDatabase } from "../../../test/support/database.ts";
import { temporaryFolders } from "../../../test/support/embedded.ts";
import { TestEngine } from "../../../test/support/engine.ts";
import { PushingWorker } from "../../../test/support/pushing-worker.ts";
import type { LeasedMessage } from "../../adapters/broker/postgres-broker/sql/message-columns.ts";
import type { Transaction } from "../../adapters/postgres/queryable.ts";
import type { JsonObject } from "../../core/model/json.ts";
import { PushedTicks } from "./tick-pushed.ts";
import type { TickReport } from "./tick.ts";

const workflows: Record<string, string> = {
  chain: `nodes:
  a: { handler: echo, next: b }
  b: { handler: echo }`,
  fan: `nodes:
  split:
    type: fan_out
    source: "{{ inputs.list }}"
    task: { handler: echo }
    next: join
  join: { type: fan_in }
outputs: { all: "{{ nodes.join.output.results }}" }`,
};

describe("a pushed report that arrives while another transaction is written", () => {
  let database: TestDatabase;
  let engine: TestEngine;
  let worker: PushingWorker;
  const folders = temporaryFolders();
  let ticks: Promise<TickReport>[];
  let pushedTicks: PushedTicks;

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
    ticks = [];
    pushedTicks = new PushedTicks(engine.deps, (ticked) => ticks.push(ticked));
  });
  afterEach(() => {
    worker.close();
  });

  const submit = async (workflow: string, inputs: JsonObject = {}) =>
    (await engine.submit(workflow, inputs)).job_id;

  const list = Array.from({ length: 300 }, (_, n) => n);

  /** Reports so many of the pushed messages, and lets the engine take them. */
  async function arrive(messages: readonly LeasedMessage[]): Promise<void> {
    for (const message of messages) worker.report(message, { n: message.message_id });
    await pushedTicks.advance();
  }

  /** Runs `work` while another session has locked the job. */
  async function whileLocked(jobId: string, work: (session: Transaction) => Promise<void>) {
    await database.db.transaction(async (session) => {
      await session.query("SELECT FROM dagapp.dag_jobs WHERE job_id = $1 FOR UPDATE", [jobId]);
      await work(session);
    });
  }

  /** How many reports each transaction has settled. */
  const settledByEach = async () => (await Promise.all(ticks)).map(({ results }) => results);

  it("is decided on what that one will leave, and written after it in one transaction", async () => {
    const id = await submit("fan", { list });
    const messages = worker.pushed.splice(0);
    await whileLocked(id, async () => {
      await arrive(messages.slice(0, 10));
      await arrive(messages.slice(10, 50));
      expect(engine.connections.waiting()).toBe(40);
      await arrive(messages.slice(50, 150));
      await arrive(messages.slice(150));
      expect(engine.connections.waiting()).toBe(0);
      expect([ticks.length, worker.recorded]).toEqual([1, []]);
    });
    await pushedTicks.idle();
    expect(await settledByEach()).toEqual([10, 290]);
    expect(worker.refused).toEqual([]);
    expect(await engine.job(id)).toMatchObject({
      status: "completed",
      result_data: { all: messages.map(({ message_id: n }) => ({ n })) },
    });
    await engine.expectReplay(id);
  });

  it("is written beside it when they have no job in common", async () => {
    const [locked, free] = [await submit("chain"), await submit("fan", { list })];
    const [first, ...children] = worker.pushed.splice(0);
    await whileLocked(locked, async () => {
      await arrive([first!]);
      await arrive(children.slice(0, 250));
      expect(ticks).toHaveLength(2);
      await ticks[1];
      expect(worker.recorded).toHaveLength(250);
    });
    await pushedTicks.idle();
    expect(worker.recorded).toHaveLength(251);
    await arrive(children.slice(250));
    await pushedTicks.idle();
    expect(await engine.statuses(locked)).toMatchObject({ a: "completed", b: "dispatched" });
    expect((await engine.job(free)).status).toBe("completed");
    for (const id of [locked, free]) await engine.expectReplay(id);
  });

  // The other writer numbers as many events as that transaction would have, so numbers alone tell nothing.
  it("is refused with it, although the number of the last event is the expected one", async () => {
    const id = await submit("fan", { list });
    const other = await submit("chain");
    const messages = worker.pushed.splice(0);
    const ofOther = messages.pop()!;
    await whileLocked(id, async (session) => {
      await arrive(messages.slice(0, 1));
      await arrive([...messages.slice(1, 150), ofOther]);
      await session.query(
        "UPDATE dagapp.dag_jobs SET event_seq = event_seq + 1 WHERE job_id = $1",
        [id],
      );
    });
    await pushedTicks.idle();
    expect(await settledByEach()).toEqual([0]);
    expect([worker.recorded, worker.refused.length]).toEqual([[], 151]);
    const { rows } = await database.db.query(
      `SELECT DISTINCT status FROM dagapp.dag_node_states
       WHERE job_id = $1 AND parent_node_id IS NOT NULL`,
      [id],
    );
    expect(rows).toEqual([{ status: "dispatched" }]);
    expect(await engine.statuses(other)).toMatchObject({ a: "dispatched" });
    // Until a tick has read what waits in the database, no pushed report of these jobs is settled.
    await arrive([ofOther]);
    expect([ticks.length, worker.refused.length]).toEqual([1, 152]);
  });

  it("waits for it when a fan-in must read rows of children that it writes", async () => {
    const id = await submit("fan", { list });
    const messages = worker.pushed.splice(0);
    // Without the state, the outputs that were pushed so far are in the rows alone.
    await arrive(messages.slice(0, 10));
    await pushedTicks.idle();
    engine.deps.cache.take(id);
    const last = messages.slice(150);
    let advanced: Promise<void> | undefined;
    await whileLocked(id, async () => {
      await arrive(messages.slice(10, 150));
      for (const message of last) worker.report(message, { n: message.message_id });
      advanced = pushedTicks.advance();
    });
    await advanced;
    await pushedTicks.idle();
    expect(await settledByEach()).toEqual([10, 140, 150]);
    expect(worker.refused).toEqual([]);
    expect((await engine.job(id)).result_data).toMatchObject({
      all: messages.map(({ message_id: n }) => ({ n })),
    });
    await engine.expectReplay(id);
  });
});
