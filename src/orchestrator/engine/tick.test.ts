import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TestDatabase } from "../../../test/support/database.ts";
import { createTestDatabase } from "../../../test/support/database.ts";
import { TestEngine } from "../../../test/support/engine.ts";
import { temporaryFolders } from "../../../test/support/embedded.ts";
import { waitFor } from "../../../test/support/wait.ts";
import type { Delivery } from "../../adapters/broker/broker.ts";
import { countStuckJobs } from "../../adapters/postgres/queries/fleet.ts";
import { findJob } from "../../adapters/postgres/queries/jobs.ts";
import { writeHeartbeat } from "../../adapters/postgres/repositories/ownership.ts";
import { version } from "../../adapters/runtime/version.ts";
import { createLocalStorage } from "../../adapters/storage/local-storage.ts";
import { Problem } from "../../core/errors.ts";
import type { TaskDefinition } from "../../core/model/workflow.ts";
import { cancelJob } from "../jobs/cancel-job.ts";
import { pauseJob, resumeJob } from "../jobs/pause-job.ts";
import { rerunJob, retryJob } from "../jobs/rerun-job.ts";
import { prepareJob, submitJobs } from "../jobs/submit-jobs.ts";
import { recover } from "./recover.ts";
import { takeOver } from "./take-over.ts";
import { tick } from "./tick.ts";

const workflows: Record<string, string> = {
  one: `nodes: { a: { handler: echo, params: { message: "{{ inputs.message | default('hi') }}" } } }`,
  chain: `nodes:
  a: { handler: echo, next: b }
  b: { handler: echo, params: { from: "{{ nodes.a.output }}" }, next: c }
  c: { handler: echo }`,
  fan: `nodes:
  split:
    type: fan_out
    source: "{{ inputs.list }}"
    task: { handler: echo, params: { item: "{{ item }}" }, retry: { max_attempts: 0 } }
    next: join
  join: { type: fan_in, max_failures: 1 }`,
  narrow: `nodes:
  split:
    type: fan_out
    source: "{{ inputs.list }}"
    max_concurrency: 2
    task: { handler: echo, params: { item: "{{ item }}" } }
    next: join
  join: { type: fan_in }`,
  flaky: `nodes:
  a:
    handler: echo
    retry: { max_attempts: 1, backoff: fixed, initial_delay_seconds: 0 }`,
  strict: `
inputs: { n: { type: integer, required: true, minimum: 1 } }
nodes: { a: { handler: echo } }`,
};

describe("the engine on a real database", () => {
  let database: TestDatabase;
  let folder: string;
  let engine: TestEngine;
  const folders = temporaryFolders();

  beforeAll(async () => {
    database = await createTestDatabase();
    folder = await folders.make();
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

  /** Reports every queued task, until the queue is empty. */
  async function workOff(jobId: string, on = engine): Promise<void> {
    for (;;) {
      const messages = await on.take(jobId);
      if (messages.length === 0) return;
      for (const message of messages) await on.complete(message, { ran: message.node_id });
      await on.tick();
    }
  }

  it("queues the first task in the transaction that creates the job", async () => {
    const { job_id, status } = await engine.submit("one", { message: "hello" });
    expect(status).toBe("running");
    expect(await engine.take(job_id)).toMatchObject([
      { task_id: `${job_id}_a_0`, handler: "echo", params: { message: "hello" }, attempt: 0 },
    ]);
    // The implicit start and end have no rows: the status of the job says theirs.
    expect(await engine.statuses(job_id)).toEqual({ a: "dispatched" });
  });

  it("carries a job to its end and keeps its provenance with the result", async () => {
    const { job_id } = await engine.submit("chain");
    await workOff(job_id);
    expect((await engine.job(job_id)).status).toBe("completed");
    const { workflow_hash, result_data } = (await findJob(database.db, job_id))!;
    const _provenance = { job_id, workflow_id: "chain", workflow_hash, engine_version: version };
    expect(result_data).toMatchObject({ c: { ran: "c" }, _provenance });
    await engine.expectReplay(job_id);
  });

  it("gives a fan-in its outputs in index order, whatever order they came in", async () => {
    const { job_id } = await engine.submit("fan", { list: [10, 20, 30] });
    const messages = await engine.take(job_id);
    for (const message of messages.toReversed()) {
      await engine.complete(message, { item: message.params["item"]! });
      await engine.tick();
    }
    const { result_data } = await engine.job(job_id);
    expect(result_data).toMatchObject({
      join: { results: [{ item: 10 }, { item: 20 }, { item: 30 }], count: 3 },
    });
    await engine.expectReplay(job_id);
  });

  it("releases waiting children as slots come free, with their own parameters", async () => {
    const { job_id } = await engine.submit("narrow", { list: [1, 2, 3, 4, 5] });
    const seen: unknown[] = [];
    for (let messages = await engine.take(job_id); messages.length > 0;) {
      expect(messages.length).toBeLessThanOrEqual(2);
      for (const message of messages) {
        seen.push(message.params["item"]);
        await engine.complete(message, {});
      }
      await engine.tick();
      messages = await engine.take(job_id);
    }
    expect(seen).toEqual([1, 2, 3, 4, 5]);
    expect((await engine.job(job_id)).status).toBe("completed");
    await engine.expectReplay(job_id);
  });

  it("tolerates failures within the budget, fails beyond it, and withdraws queued tasks", async () => {
    const soft = await engine.submit("fan", { list: [1, 2] });
    const [first, second] = await engine.take(soft.job_id);
    await engine.fail(first!);
    await engine.complete(second!, {});
    await engine.tick();
    expect((await engine.job(soft.job_id)).status).toBe("completed");

    const hard = await engine.submit("fan", { list: [1, 2, 3, 4] });
    const { rows } = await database.db.query<{ body: string }>(
      `DELETE FROM dagapp.dag_queue_ready WHERE group_key = $1
         AND message_key LIKE '%split\\_\\_0\\_0' OR message_key LIKE '%split\\_\\_1\\_0'
       RETURNING body`,
      [hard.job_id],
    );
    for (const { body } of rows) await engine.fail(JSON.parse(body) as never);
    await engine.tick();
    expect(await engine.job(hard.job_id)).toMatchObject({
      status: "failed",
      error_code: "FAN_OUT_BUDGET",
      failed_node_id: "split",
    });
    expect(await engine.take(hard.job_id)).toEqual([]);
    expect((await engine.statuses(hard.job_id))["split__3"]).toBe("cancelled");
    await engine.expectReplay(soft.job_id);
    await engine.expectReplay(hard.job_id);
  });

  it("retries a transient error as a new attempt and records both", async () => {
    const { job_id } = await engine.submit("flaky");
    const [first] = await engine.take(job_id);
    await engine.fail(first!);
    await engine.tick();
    await engine.tick();
    const [second] = await engine.take(job_id);
    expect(second).toMatchObject({ task_id: `${job_id}_a_1`, attempt: 1, retry_count: 1 });
    await engine.complete(first!, { late: true });
    await engine.complete(second!, { good: true });
    await engine.tick();
    expect((await engine.job(job_id)).result_data).toMatchObject({ a: { good: true } });
    await engine.expectReplay(job_id);
  });

  it("records a result of no current attempt as ignored, and changes nothing", async () => {
    const { job_id } = await engine.submit("one");
    const [message] = await engine.take(job_id);
    await engine.complete({ ...message!, task_id: `${job_id}_a_7` }, { wrong: true });
    await engine.tick();
    expect((await engine.statuses(job_id))["a"]).toBe("dispatched");
    const events = await engine.events(job_id);
    expect(events.at(-1)).toMatchObject({ event_type: "result_ignored", node_id: "a" });
    await engine.expectReplay(job_id);
  });

  it("answers a repeated idempotency key with the first job, from fifty clients at once", async () => {
    const request = { workflow_id: "one", inputs: { message: "x" }, idempotency_key: "k1" };
    const answers = await Promise.all(
      Array.from({ length: 50 }, async () => {
        const prepared = await prepareJob(engine.deps, request);
        return (await submitJobs(engine.deps, [prepared]))[0];
      }),
    );
    const ids = new Set(answers.map((answer) => answer && "job_id" in answer && answer.job_id));
    expect(ids.size).toBe(1);
    expect(answers.filter((answer) => answer && "created" in answer && answer.created).length).toBe(
      1,
    );
    const other = await prepareJob(engine.deps, { ...request, inputs: { message: "y" } });
    const [conflict] = await submitJobs(engine.deps, [other]);
    expect(conflict).toBeInstanceOf(Problem);
    expect(conflict).toMatchObject({ code: "IDEMPOTENCY_CONFLICT" });
  });

  it("refuses inputs that do not fit, with all findings, and creates nothing", async () => {
    const before = await database.db.query(`SELECT FROM dagapp.dag_jobs`);
    await expect(engine.submit("strict", { n: 0, m: 1 })).rejects.toMatchObject({
      code: "INVALID_INPUTS",
      items: [{ pointer: "/inputs/n" }, { pointer: "/inputs/m" }],
    });
    await expect(engine.submit("nowhere")).rejects.toMatchObject({ code: "WORKFLOW_NOT_FOUND" });
    const after = await database.db.query(`SELECT FROM dagapp.dag_jobs`);
    expect(after.rowCount).toBe(before.rowCount);
  });

  it("cancels on request: no task runs or starts, and a second request changes nothing", async () => {
    const { job_id } = await engine.submit("chain");
    expect(await cancelJob(engine.deps, job_id, "changed my mind")).toMatchObject({
      cancel_requested: true,
    });
    await cancelJob(engine.deps, job_id, "again");
    await engine.tick();
    expect(await engine.job(job_id)).toMatchObject({ status: "cancelled" });
    expect(await engine.take(job_id)).toEqual([]);
    await cancelJob(engine.deps, job_id, "and again");
    await engine.expectReplay(job_id);
    const done = await engine.submit("one");
    await workOff(done.job_id);
    await expect(cancelJob(engine.deps, done.job_id, "")).rejects.toMatchObject({
      code: "JOB_FINISHED",
    });
    await expect(cancelJob(engine.deps, "none", "")).rejects.toMatchObject({
      code: "JOB_NOT_FOUND",
    });
  });

  it("pauses and resumes where it was", async () => {
    const { job_id } = await engine.submit("chain");
    await pauseJob(engine.deps, job_id);
    const [message] = await engine.take(job_id);
    await engine.complete(message!, {});
    await engine.tick();
    expect((await engine.statuses(job_id))["b"]).toBe("ready");
    expect(await engine.take(job_id)).toEqual([]);
    await resumeJob(engine.deps, job_id);
    await engine.tick();
    await workOff(job_id);
    expect((await engine.job(job_id)).status).toBe("completed");
    await engine.expectReplay(job_id);
  });

  it("retries a failed job as a new one that keeps what succeeded", async () => {
    const { job_id } = await engine.submit("chain");
    const [a] = await engine.take(job_id);
    await engine.complete(a!, { n: 1 });
    await engine.tick();
    const [b] = await engine.take(job_id);
    await engine.fail(b!, { category: "permanent" });
    await engine.tick();
    expect((await engine.job(job_id)).status).toBe("failed");
    const again = await retryJob(engine.deps, job_id);
    const messages = await engine.take(again.job_id);
    expect(messages).toMatchObject([{ node_id: "b", params: { from: { n: 1 } } }]);
    await engine.complete(messages[0]!, {});
    await engine.tick();
    await workOff(again.job_id);
    expect(await engine.job(again.job_id)).toMatchObject({ status: "completed", rerun_of: job_id });
    await engine.expectReplay(again.job_id);
  });

  it("retries only the failed children of a fan-out", async () => {
    const { job_id } = await engine.submit("fan", { list: [1, 2, 3, 4] });
    const messages = await engine.take(job_id);
    await engine.complete(messages[0]!, { kept: true });
    for (const message of messages.slice(1)) await engine.fail(message);
    await engine.tick();
    expect((await engine.job(job_id)).status).toBe("failed");
    const again = await retryJob(engine.deps, job_id);
    await engine.tick();
    const retried = await engine.take(again.job_id);
    expect(retried.map((message) => message.node_id)).toEqual(["split__1", "split__2", "split__3"]);
    for (const message of retried) await engine.complete(message, { again: true });
    await engine.tick();
    const { result_data } = await engine.job(again.job_id);
    expect(result_data).toMatchObject({
      join: { results: [{ kept: true }, { again: true }, { again: true }, { again: true }] },
    });
    await engine.expectReplay(again.job_id);
  });

  it("reruns from a node and its successors, and refuses a job that still runs", async () => {
    const { job_id } = await engine.submit("chain");
    await expect(rerunJob(engine.deps, job_id, { from_node: "b" })).rejects.toMatchObject({
      code: "JOB_NOT_FINISHED",
    });
    await workOff(job_id);
    await expect(rerunJob(engine.deps, job_id, { from_node: "x" })).rejects.toMatchObject({
      code: "NODE_NOT_FOUND",
    });
    const again = await rerunJob(engine.deps, job_id, { from_node: "b" });
    expect((await engine.take(again.job_id)).map((message) => message.node_id)).toEqual(["b"]);
    await engine.expectReplay(again.job_id);
  });

  it("uses an edited file for new submissions and never for a running job", async () => {
    const file = path.join(folder, "edited.yaml");
    await writeFile(file, "nodes: { a: { handler: echo, next: b }, b: { handler: echo } }");
    const old = await engine.submit("edited");
    await writeFile(file, "nodes: { a: { handler: echo, next: z }, z: { handler: hello_world } }");
    const fresh = await engine.submit("edited");
    for (const { job_id } of [old, fresh]) await workOff(job_id);
    expect(Object.keys(await engine.statuses(old.job_id))).toContain("b");
    expect(Object.keys(await engine.statuses(fresh.job_id))).toContain("z");
    const [before, after] = [await engine.job(old.job_id), await engine.job(fresh.job_id)];
    expect(before.workflow_hash).not.toBe(after.workflow_hash);
    expect([before.status, after.status]).toEqual(["completed", "completed"]);
  });

  it("refuses a fan-out over the limit, and names its size and the setting", async () => {
    const deps = { ...engine.deps, maxFanOut: 2 };
    const [wide] = await submitJobs(deps, [
      await prepareJob(deps, { workflow_id: "fan", inputs: { list: [1, 2, 3] } }),
    ]);
    if (wide === undefined || wide instanceof Problem) throw wide ?? new Error("no answer");
    expect(await engine.job(wide.job_id)).toMatchObject({
      status: "failed",
      error_code: "FAN_OUT_TOO_LARGE",
      error_message: expect.stringMatching(/3 items.*at most 2 children.*MAX_FAN_OUT/) as string,
    });
  });

  it("settles the other jobs when one cannot be settled", async () => {
    const bad = await engine.submit("chain");
    const good = await engine.submit("chain");
    const [lost] = await engine.take(bad.job_id);
    const sha256 = createHash("sha256").update("{}").digest("hex");
    await engine.complete(lost!, { $ref: "results/gone.json", bytes: 2, sha256 });
    const [fine] = await engine.take(good.job_id);
    await engine.complete(fine!, {});
    await engine.tick();
    expect((await engine.statuses(bad.job_id))["b"]).toBe("pending");
    await workOff(good.job_id);
    expect((await engine.job(good.job_id)).status).toBe("completed");
    expect(await engine.job(bad.job_id)).toMatchObject({
      status: "running",
      error_code: "CANNOT_SETTLE",
      error_message: expect.stringContaining("results/gone.json") as string,
    });
    expect(await countStuckJobs(database.db)).toBe(1);
    await createLocalStorage(engine.folder).put("results/gone.json", Buffer.from("{}"));
    // Ends the quarantine.
    engine.deps.quarantine.list(Date.now() + 120_000);
    await engine.tick();
    expect(await engine.job(bad.job_id)).toMatchObject({ error_code: null, error_message: null });
    expect(await countStuckJobs(database.db)).toBe(0);
  });

  describe("with several orchestrators", () => {
    it("notices that another process writes heartbeats with the same id", async () => {
      const first = { owner_id: "twin", host: "here", pid: 1, version: "1" };
      const second = { ...first, host: "there" };
      const beat = (identity: typeof first) => writeHeartbeat(database.db, identity);
      expect(await beat(first)).toBeUndefined();
      expect(await beat(first)).toBeUndefined();
      expect(await beat(second)).toEqual({ host: "here", pid: 1 });
      expect(await beat(first)).toEqual({ host: "there", pid: 1 });
    });

    it("removes the rows of workers that are gone for long, and no others", async () => {
      await database.db.query(
        `INSERT INTO dagapp.dag_workers (worker_id, host, pid, version, queues, slots, heartbeat_at)
         SELECT id, 'h', 1, '1', '{}', 1, now() - silent
         FROM (VALUES ('killed', interval '1 hour'), ('silent', interval '2 minutes')) AS w(id, silent)`,
      );
      await takeOver(engine.deps, { thresholdSeconds: 60 });
      const { rows } = await database.db.query("SELECT worker_id FROM dagapp.dag_workers");
      expect(rows).toEqual([{ worker_id: "silent" }]);
    });

    it("takes over the jobs of an owner that is gone, and its late writes change nothing", async () => {
      const gone = await TestEngine.create(database, folder);
      const { job_id } = await gone.submit("chain");
      const [message] = await gone.take(job_id);
      expect(await takeOver(engine.deps, { thresholdSeconds: 60 })).toBeGreaterThan(0);
      expect((await engine.job(job_id)).owner_id).toBe(engine.deps.ownerId);
      await engine.complete(message!, {});
      expect(await tick(gone.deps)).toMatchObject({ jobs: 0, results: 0 });
      await engine.tick();
      await workOff(job_id);
      expect((await engine.job(job_id)).status).toBe("completed");
      await engine.expectReplay(job_id);
      await gone.close();
    });
  });

  describe("recovery", () => {
    /** Takes the task of a job from its queue as a worker does. */
    async function consumeOne(jobId: string, handle: (delivery: Delivery) => Promise<unknown>) {
      const { queue } = (await engine.deps.workflows.current("flaky")).definition.nodes[
        "a"
      ] as TaskDefinition;
      let taken = false;
      const subscription = await engine.deps.broker.consume(
        queue,
        { maxInFlight: 5 },
        async (one) => {
          if (!one.id.startsWith(jobId)) return;
          taken = true;
          await handle(one);
        },
      );
      await waitFor(() => taken, { what: "the delivery" });
      return subscription;
    }

    it("fails the node of a dead-lettered task with the reason", async () => {
      const { job_id } = await engine.submit("flaky");
      const dead = await consumeOne(job_id, (delivery) =>
        delivery.deadLetter("Poison", "it bites"),
      );
      await dead.close();
      expect(await recover(engine.deps)).toMatchObject({ deadLettered: 1 });
      await engine.tick();
      expect(await engine.job(job_id)).toMatchObject({
        status: "failed",
        error_code: "DEAD_LETTERED",
        error_message: "the task was given up after 1 deliveries: it bites",
      });
      expect(await recover(engine.deps)).toMatchObject({ deadLettered: 0 });
    });

    it("times out an attempt by its time on a worker and never by its time in the queue", async () => {
      const { job_id } = await engine.submit("flaky");
      await database.db.query(
        `UPDATE dagapp.dag_queue_ready SET enqueued_at = now() - interval '1 day'
         WHERE group_key = $1`,
        [job_id],
      );
      expect(await recover(engine.deps)).toMatchObject({ overdue: 0 });
      let hung: () => void = () => undefined;
      const subscription = await consumeOne(
        job_id,
        () => new Promise((resolve) => (hung = resolve as () => void)),
      );
      await database.db.query(
        `UPDATE dagapp.dag_queue_leases SET leased_at = now() - interval '1 hour'
         WHERE group_key = $1`,
        [job_id],
      );
      expect(await recover(engine.deps)).toMatchObject({ overdue: 1 });
      hung();
      await subscription.close();
      await engine.tick();
      await engine.tick();
      expect(await engine.take(job_id)).toMatchObject([{ attempt: 1 }]);
    });
  });

  it("spends the same number of statements on one job and on a hundred", async () => {
    const counts: number[] = [];
    for (const jobs of [1, 100]) {
      const submitted = [];
      for (let i = 0; i < jobs; i++) submitted.push(await engine.submit("chain"));
      for (const { job_id } of submitted) {
        for (const message of await engine.take(job_id)) await engine.complete(message, {});
      }
      let statements = 0;
      const counting = {
        ...engine.deps,
        db: {
          ...engine.deps.db,
          transaction: ((work, options) =>
            engine.deps.db.transaction(
              (tx) =>
                work({
                  ...tx,
                  query: (...args: Parameters<typeof tx.query>) => {
                    statements += 1;
                    return tx.query(...args);
                  },
                  send: (...args: Parameters<typeof tx.send>) => {
                    statements += 1;
                    tx.send(...args);
                  },
                } as typeof tx),
              options,
            )) as typeof engine.deps.db.transaction,
        },
      };
      expect(await tick(counting)).toMatchObject({ jobs, results: jobs });
      counts.push(statements);
    }
    expect(counts[1]).toBe(counts[0]);
    expect(counts[0]).toBeLessThanOrEqual(8);
  });

  it("settles the other jobs while another session keeps one locked, and that one afterwards", async () => {
    const held = await engine.submit("one");
    const free = await engine.submit("one");
    for (const { job_id } of [held, free]) {
      const [message] = await engine.take(job_id);
      await engine.complete(message!, { done: true });
    }
    await database.db.transaction(async (session) => {
      await session.query("SELECT FROM dagapp.dag_jobs WHERE job_id = $1 FOR UPDATE", [
        held.job_id,
      ]);
      expect(await tick(engine.deps)).toMatchObject({ jobs: 0, more: true });
      expect((await tick(engine.deps)).next_due_ms).toBeLessThanOrEqual(250);
      expect((await engine.job(free.job_id)).status).toBe("completed");
    });
    expect((await engine.job(held.job_id)).status).toBe("running");
    await waitFor(
      async () => {
        await engine.tick();
        return (await engine.job(held.job_id)).status === "completed";
      },
      { what: "the end of the job that was locked" },
    );
    await engine.expectReplay(held.job_id);
  });
});
