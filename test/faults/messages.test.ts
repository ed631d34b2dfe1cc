/** Messages that come twice, late, in another order, never, or that kill the worker that takes them. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { expectInvariants } from "../support/chaos-invariants.ts";
import type { TestDatabase } from "../support/database.ts";
import { createTestDatabase } from "../support/database.ts";
import { TestEngine } from "../support/engine.ts";
import { Fleet, finished, submit } from "../support/programs.ts";
import { makeVerbs } from "../../src/orchestrator/jobs/make-verbs.ts";
import { Random } from "../support/random.ts";
import { waitFor } from "../support/wait.ts";
import type { WorkFolder } from "./mixed-work.ts";
import { makeWorkFolder, quick, twoQueues } from "./mixed-work.ts";

let folder: WorkFolder;
let database: TestDatabase;
let fleet: Fleet;

const probe = (params: string) =>
  `nodes: { a: { handler: probe, params: { ${params} }, retry: { max_attempts: 0 } } }`;

beforeAll(async () => {
  folder = await makeWorkFolder({
    retried:
      "nodes: { a: { handler: echo, retry: { max_attempts: 1, initial_delay_seconds: 0 } } }",
    pair: "nodes: { a: { handler: echo }, b: { handler: echo } }",
    many: `
nodes:
  split: { type: fan_out, source: "{{ inputs.items }}", task: { handler: echo, params: { n: "{{ item }}" } }, next: join }
  join: { type: fan_in }`,
    crash: probe("mode: crash"),
    crashTwice: probe("mode: crash").replace(
      "max_attempts: 0",
      "max_attempts: 1, initial_delay_seconds: 0",
    ),
    slow: probe("mode: slow, seconds: 2"),
    oversize: probe(`mode: large, size: ${17 * 1024 * 1024}`),
    deep: probe("mode: deep, size: 5000"),
    cyclic: probe("mode: cyclic"),
    nul: probe("mode: nul"),
  });
});
afterAll(() => folder.remove());
beforeEach(async () => {
  database = await createTestDatabase();
  fleet = new Fleet(database.url, folder.path);
});
afterEach(async () => {
  await fleet.stop();
  await database.drop();
});

describe("a message", () => {
  it("that is there three times is recorded once", async () => {
    const orchestrator = await fleet.orchestrator(quick);
    const id = await submit(orchestrator, "many", { items: [1, 2, 3, 4] });
    for (let copy = 0; copy < 2; copy++) {
      await database.db.query(
        `INSERT INTO dagapp.dag_queue_ready (queue, message_key, group_key, headers, body)
         SELECT DISTINCT ON (message_key) queue, message_key, group_key, headers, body
         FROM dagapp.dag_queue_ready`,
      );
    }
    await fleet.worker(twoQueues);
    expect((await finished(orchestrator, id)).status).toBe("completed");
    await waitFor(
      async () => {
        const { rows } = await database.db.query(
          `SELECT message_id FROM dagapp.dag_queue_ready
           UNION ALL SELECT message_id FROM dagapp.dag_queue_leases`,
        );
        return rows.length === 0;
      },
      { what: "the copies to be worked off" },
    );
    const { rows } = await database.db.query(`SELECT task_id FROM dagapp.dag_attempts`);
    expect(rows.length).toBe(4);
    await expectInvariants(database.db);
  });

  it("that is gone is noticed and replaced, once", async () => {
    const orchestrator = await fleet.orchestrator({ ...quick, MESSAGE_LOST_SEC: "1" });
    const id = await submit(orchestrator, "retried");
    const { rowCount } = await database.db.query(`DELETE FROM dagapp.dag_queue_ready`);
    expect(rowCount).toBe(1);
    await fleet.worker(twoQueues);
    expect((await finished(orchestrator, id)).status).toBe("completed");
    const { rows } = await database.db.query(
      `SELECT event_data -> 'error' ->> 'code' AS code FROM dagapp.dag_unpacked_events
       WHERE event_type = 'node_retry'`,
    );
    expect(rows).toEqual([{ code: "MESSAGE_LOST" }]);
    await expectInvariants(database.db);
  });

  it("whose worker dies after the work and before the report is worked on again as the same attempt", async () => {
    const orchestrator = await fleet.orchestrator(quick);
    const first = await fleet.worker({ ...twoQueues, RMHDAG_FAIL_POINT: "worker.after_run" });
    const id = await submit(orchestrator, "retried");
    expect(await first.gone).toBeNull();
    await fleet.worker({ ...twoQueues, WORKER_ID: "second" });
    expect((await finished(orchestrator, id)).status).toBe("completed");
    const { rows } = await database.db.query(
      `SELECT r.worker_id, n.attempt, n.retry_count FROM dagapp.dag_attempts r
       JOIN dagapp.dag_node_states n USING (task_id)`,
    );
    expect(rows).toEqual([{ worker_id: "second", attempt: 0, retry_count: 0 }]);
    await expectInvariants(database.db);
  });
});

describe("a poisonous task", () => {
  const slots = { ...twoQueues, WORKER_CONCURRENCY: "16", WORKER_QUEUE: "dag-worker-tasks" };
  const leases = async () => {
    const { rows } = await database.db.query(`SELECT FROM dagapp.dag_queue_leases`);
    return rows.length;
  };

  /** Neighbours that are long enough to be there when the worker dies, and then the poison. */
  async function poison(workflow: string, leaseSeconds: string) {
    const orchestrator = await fleet.orchestrator({
      ...quick,
      MAX_DELIVERIES: "1",
      LEASE_SEC: leaseSeconds,
    });
    let worker = await fleet.worker({ ...slots, WORKER_ID: "worker-0" });
    const innocent: string[] = [];
    for (let i = 0; i < 3; i++) innocent.push(await submit(orchestrator, "slow"));
    await waitFor(async () => (await leases()) === 3, { what: "the neighbours to run" });
    const culprit = await submit(orchestrator, workflow);
    const ends = async () =>
      Promise.all(
        [...innocent, culprit].map(async (id) => {
          const { status, error } = await orchestrator.client.getJob({ params: { job_id: id } });
          return { status, code: error?.code };
        }),
      );
    return {
      orchestrator,
      ends,
      replaceUntilEnded: async (env: (dead: string) => Record<string, string>): Promise<number> => {
        for (let deaths = 0; ; deaths++) {
          const open = async () => (await ends()).some(({ status }) => status === "running");
          const isOver = waitFor(async () => !(await open()), {
            timeoutMs: 30_000,
            what: "the end",
          });
          const died = await Promise.race([worker.gone.then(() => true), isOver.then(() => false)]);
          if (!died) return deaths;
          const dead = `worker-${deaths}`;
          worker = await fleet.worker({
            ...slots,
            WORKER_ID: `worker-${deaths + 1}`,
            ...env(dead),
          });
        }
      },
    };
  }
  const completed = { status: "completed", code: undefined };

  it("fails by itself, with its retries used, and its neighbours complete", async () => {
    const { ends, replaceUntilEnded } = await poison("crashTwice", "600");
    const deaths = await replaceUntilEnded((dead) => ({ WORKER_REPLACES: dead }));
    expect(await ends()).toEqual([
      completed,
      completed,
      completed,
      { status: "failed", code: "WORKER_CRASHED" },
    ]);
    // Once beside the others, and alone with each of its two attempts.
    expect(deaths).toBe(3);
    const { rows } = await database.db.query(
      `SELECT node_id, attempt FROM dagapp.dag_node_states WHERE handler = 'probe' ORDER BY attempt`,
    );
    expect(rows.map(({ attempt }: { attempt?: number }) => attempt)).toEqual([0, 0, 0, 1]);
    const dead = await database.db.query(`SELECT FROM dagapp.dag_queue_dead`);
    expect(dead.rows).toEqual([]);
    const workers = await database.db.query(`SELECT worker_id FROM dagapp.dag_workers`);
    expect(workers.rows).toEqual([{ worker_id: "worker-3" }]);
    await expectInvariants(database.db);
  });

  it("is found without a supervisor that tells of deaths, by leases that expire", async () => {
    const { orchestrator, ends, replaceUntilEnded } = await poison("crash", "3");
    const deaths = await replaceUntilEnded(() => ({}));
    expect(await ends()).toEqual([
      completed,
      completed,
      completed,
      { status: "failed", code: "DEAD_LETTERED" },
    ]);
    // The first loss may be an outage; after the second it runs alone, and its loss counts.
    expect(deaths).toBe(3);
    const dead = await orchestrator.client.listDeadLetters({
      params: { queue: "dag-worker-tasks" },
    });
    expect(dead.items).toMatchObject([{ reason: "MaxDeliveriesExceeded", delivery_count: 1 }]);
    await expectInvariants(database.db);
  });
});

describe("an output", () => {
  it("that cannot be stored fails its node at once, and the worker goes on", async () => {
    const orchestrator = await fleet.orchestrator(quick);
    await fleet.worker(twoQueues);
    const codes: Record<string, unknown> = {};
    for (const workflow of ["oversize", "deep", "cyclic", "nul"]) {
      const id = await submit(orchestrator, workflow);
      const { status, error } = await finished(orchestrator, id);
      codes[workflow] = [status, error?.code];
    }
    expect(codes).toEqual({
      oversize: ["failed", "OUTPUT_TOO_LARGE"],
      deep: ["failed", "OUTPUT_INVALID"],
      cyclic: ["failed", "OUTPUT_INVALID"],
      nul: ["failed", "OUTPUT_INVALID"],
    });
    const id = await submit(orchestrator, "retried");
    expect((await finished(orchestrator, id)).status).toBe("completed");
    await expectInvariants(database.db);
  });
});

describe("a result", () => {
  let engine: TestEngine;
  beforeEach(async () => {
    engine = await TestEngine.create(database, folder.path);
  });
  afterEach(() => engine.close());

  it.each(["completed", "failed", "cancelled"])(
    "that comes after its job has %s is an ignored event, and stops no other job",
    async (end) => {
      const { job_id } = await engine.submit("pair");
      const [a, b] = await engine.take(job_id);
      if (end === "cancelled") {
        await makeVerbs(engine.deps, () => undefined).cancel(job_id, "enough");
      } else if (end === "failed") await engine.fail(a!, { category: "permanent" });
      else for (const one of [a!, b!]) await engine.complete(one, { done: true });
      await engine.tick();
      const ended = await jobRow(job_id);
      expect(ended["status"]).toBe(end);
      const late = end === "completed" ? { ...b!, task_id: `${job_id}_b_7` } : b!;
      await engine.complete(late, { late: true });
      const other = await engine.submit("retried");
      for (const one of await engine.take(other.job_id)) await engine.complete(one, {});
      await engine.tick();
      expect((await engine.job(other.job_id)).status).toBe("completed");
      const events = await engine.events(job_id);
      expect(events.at(-1)).toMatchObject({ event_type: "result_ignored", node_id: "b" });
      // Status, result and times of the job are unchanged.
      const after = await jobRow(job_id);
      const count = { event_seq: events.length, version: after["version"] };
      expect(after).toEqual({ ...ended, ...count, updated_at: after["updated_at"] });
      await expectInvariants(database.db);
    },
  );

  async function jobRow(jobId: string): Promise<Record<string, unknown>> {
    const { rows } = await database.db.query<Record<string, unknown>>(
      `SELECT * FROM dagapp.dag_jobs WHERE job_id = $1`,
      [jobId],
    );
    return rows[0] ?? {};
  }

  it("of an attempt that is not the current one is an ignored event", async () => {
    const { job_id } = await engine.submit("retried");
    const [first] = await engine.take(job_id);
    await engine.fail(first!);
    await engine.tick();
    const [second] = await engine.take(job_id);
    expect(second?.attempt).toBe(1);
    // Once more the first attempt, as a second delivery of its message would report it.
    await engine.complete(first!, { stale: true });
    await engine.complete({ ...first!, task_id: `${job_id}_a_7` }, { future: true });
    await engine.tick();
    expect(await engine.statuses(job_id)).toMatchObject({ a: "dispatched" });
    expect((await engine.events(job_id)).at(-1)).toMatchObject({
      event_type: "result_ignored",
      event_data: { reason: "attempt 1 is the current one" },
    });
    await engine.complete(second!, { fresh: true });
    await engine.tick();
    expect((await engine.job(job_id)).result_data).toMatchObject({ a: { fresh: true } });
    await expectInvariants(database.db);
  });

  it("counts in whatever order it comes: a fan-in lists by index", async () => {
    const random = new Random(1);
    for (let round = 0; round < 20; round++) {
      const items = Array.from({ length: 1 + random.int(12) }, (_, index) => index);
      const { job_id } = await engine.submit("many", { items });
      for (const message of random.shuffle(await engine.take(job_id))) {
        await engine.complete(message, { n: message.params["n"]! });
        if (random.chance(0.4)) await engine.tick();
      }
      await engine.tick();
      const { status, result_data } = await engine.job(job_id);
      expect(status).toBe("completed");
      expect(result_data).toMatchObject({ join: { results: items.map((n) => ({ n })) } });
    }
    await expectInvariants(database.db);
  });
});
