import { writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { TestDatabase } from "../../../test/support/database.ts";
import { createTestDatabase } from "../../../test/support/database.ts";
import { TestEngine } from "../../../test/support/engine.ts";
import { temporaryFolders } from "../../../test/support/embedded.ts";
import type { FromOrchestrator, HandedMessage, ToldResult } from "../../core/link.ts";
import type { TaskMessage } from "../../core/messages.ts";
import type { JsonObject } from "../../core/model/json.ts";
import { cancelJob } from "../jobs/cancel-job.ts";
import type { Link } from "../links/links.ts";
import { settleTold } from "./settle-told.ts";
import { tick } from "./tick.ts";

const workflows: Record<string, string> = {
  chain: `nodes:
  a: { handler: echo, next: b }
  b: { handler: echo, params: { from: "{{ nodes.a.output.n }}" } }
outputs: { n: "{{ nodes.b.output.n }}" }`,
  fan: `nodes:
  split:
    type: fan_out
    source: "{{ inputs.list }}"
    task: { handler: echo, params: { item: "{{ item }}" } }
    next: join
  join: { type: fan_in }
outputs: { all: "{{ nodes.join.output.results }}" }`,
};

describe("what a linked worker told", () => {
  let database: TestDatabase;
  let engine: TestEngine;
  let link: Link | undefined;
  let handed: HandedMessage[];
  let settled: string;
  const folders = temporaryFolders();

  beforeAll(async () => {
    database = await createTestDatabase();
    const folder = await folders.make();
    for (const [id, text] of Object.entries(workflows)) {
      await writeFile(path.join(folder, `${id}.yaml`), text);
    }
    engine = await TestEngine.create(database, folder);
  });
  afterAll(async () => {
    await engine.close();
    await database.drop();
    await folders.remove();
  });
  beforeEach(() => {
    handed = [];
    settled = "";
    if (link !== undefined) engine.deps.links.remove(link);
    link = { workerId: "worker", granted: new Map(), send: hear };
    engine.deps.links.add(link);
    engine.deps.links.hear(link, { grants: { "functionapp-tasks": 100, "dag-worker-tasks": 100 } });
  });

  function hear(line: FromOrchestrator): boolean {
    if ("messages" in line) handed.push(...line.messages);
    if ("settled" in line) settled += line.settled;
    return true;
  }

  function tell(message: HandedMessage, output: JsonObject): void {
    const { job_id, node_id, task_id } = JSON.parse(message.body) as TaskMessage;
    const { message_id, deliveries, leased_at } = message;
    const result: ToldResult = {
      ...{ job_id, node_id, task_id, status: "completed", output: JSON.stringify(output) },
      ...{ error: null, lease: { message_id, deliveries, leased_at } },
    };
    if (link !== undefined) engine.deps.links.hear(link, { told: [result] });
  }

  const next = () => {
    const message = handed.shift();
    if (message === undefined) throw new Error("nothing was handed over");
    return message;
  };
  const settle = () => settleTold(engine.deps, engine.deps.links.takeTold(1000));

  async function submit(workflow: string, inputs: JsonObject = {}): Promise<string> {
    return (await engine.submit(workflow, inputs)).job_id;
  }

  it("is settled in one message, and what follows is handed over", async () => {
    const id = await submit("chain");
    const first = next();
    tell(first, { n: 1 });
    expect(await settle()).toBe(1);
    expect(settled).toBe("o");
    const second = next();
    expect(JSON.parse(second.body)).toMatchObject({ node_id: "b", params: { from: 1 } });
    tell(second, { n: 2 });
    expect(await settle()).toBe(1);
    expect(await engine.job(id)).toMatchObject({ status: "completed", result_data: { n: 2 } });
    const { rows } = await database.db.query<{ same: boolean }>(
      `SELECT n.started_at = r.started_at AND n.worker_id = 'worker' AS same
       FROM dagapp.dag_node_states n JOIN dagapp.dag_task_results r USING (task_id)
       WHERE n.job_id = $1`,
      [id],
    );
    expect(rows).toEqual([{ same: true }, { same: true }]);
    await engine.expectReplay(id);
  });

  it("of a fan-out's children moves their outputs, and the fan-in reads them all", async () => {
    const id = await submit("fan", { list: [10, 11, 12] });
    expect(handed.length).toBe(3);
    tell(next(), { n: 1 });
    expect(await settle()).toBe(1);
    tell(next(), { n: 2 });
    tell(next(), { n: 3 });
    expect(await settle()).toBe(1);
    expect(settled).toBe("ooo");
    expect(await engine.job(id)).toMatchObject({
      status: "completed",
      result_data: { all: [{ n: 1 }, { n: 2 }, { n: 3 }] },
    });
    await engine.expectReplay(id);
  });

  it("is left to the ordinary tick when somebody changed the job meanwhile", async () => {
    const id = await submit("chain");
    await cancelJob(engine.deps, id, "enough");
    tell(next(), { n: 1 });
    const told = engine.deps.links.takeTold(10);
    expect(await settleTold(engine.deps, told)).toBeUndefined();
    expect(settled).toBe("");
    expect(handed).toEqual([]);
    await tick(engine.deps, told);
    expect(settled).toBe("o");
    expect((await engine.job(id)).status).toBe("cancelled");
    await engine.expectReplay(id);
  });

  it("counts for nothing when its lease is gone, alone or among others", async () => {
    const [lost, kept] = [await submit("chain"), await submit("chain")];
    const [late, good] = [next(), next()];
    await database.db.query(`DELETE FROM dagapp.dag_queue_leases WHERE message_id = $1`, [
      late.message_id,
    ]);
    tell(late, { n: 1 });
    tell(good, { n: 1 });
    const told = engine.deps.links.takeTold(10);
    expect(await settleTold(engine.deps, told)).toBeUndefined();
    await tick(engine.deps, told);
    expect(settled).toBe("lo");
    expect(await engine.statuses(lost)).toMatchObject({ a: "dispatched", b: "pending" });
    expect(await engine.statuses(kept)).toMatchObject({ a: "completed", b: "dispatched" });
    await engine.expectReplay(kept);
  });

  it("of a child whose row is another than assumed changes nothing", async () => {
    const id = await submit("fan", { list: [1] });
    const child = next();
    await database.db.query(
      `UPDATE dagapp.dag_node_states SET attempt = 1, task_id = job_id || '_split__0_1'
       WHERE job_id = $1 AND node_id = 'split__0'`,
      [id],
    );
    tell(child, { n: 1 });
    expect(await settle()).toBeUndefined();
    const { rows } = await database.db.query(
      `SELECT FROM dagapp.dag_task_results WHERE job_id = $1`,
      [id],
    );
    expect(rows.length).toBe(0);
  });

  it("twice is recorded once", async () => {
    const id = await submit("chain");
    const first = next();
    tell(first, { n: 1 });
    tell(first, { n: 7 });
    const told = engine.deps.links.takeTold(10);
    expect(await settleTold(engine.deps, told)).toBeUndefined();
    await tick(engine.deps, told);
    tell(first, { n: 8 });
    const again = engine.deps.links.takeTold(10);
    expect(await settleTold(engine.deps, again)).toBeUndefined();
    await tick(engine.deps, again);
    expect(settled.at(-1)).toBe("l");
    const { rows } = await database.db.query<{ n: number }>(
      `SELECT (output ->> 'n')::int AS n FROM dagapp.dag_task_results WHERE job_id = $1`,
      [id],
    );
    expect(rows.length).toBe(1);
    await engine.expectReplay(id);
  });
});
