/** Two requests that concern one job at the same time, in many interleavings. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Problem } from "../../src/core/errors.ts";
import { makeVerbs } from "../../src/orchestrator/jobs/make-verbs.ts";
import type { Verbs } from "../../src/orchestrator/jobs/verbs.ts";
import { expectInvariants } from "../support/chaos-invariants.ts";
import type { TestDatabase } from "../support/database.ts";
import { createTestDatabase } from "../support/database.ts";
import { TestEngine } from "../support/engine.ts";
import { Random } from "../support/random.ts";
import type { WorkFolder } from "./mixed-work.ts";
import { makeWorkFolder } from "./mixed-work.ts";

const rounds = 60;

let folder: WorkFolder;
let database: TestDatabase;
let engine: TestEngine;
let verbs: Verbs;
let random: Random;

beforeAll(async () => {
  folder = await makeWorkFolder({
    one: "nodes: { a: { handler: echo, retry: { max_attempts: 1, initial_delay_seconds: 0 } } }",
    two: "nodes: { a: { handler: echo, next: b }, b: { handler: echo } }",
    fragile:
      "nodes: { a: { handler: echo, next: b }, b: { handler: echo, retry: { max_attempts: 0 } } }",
  });
});
afterAll(() => folder.remove());
beforeEach(async () => {
  database = await createTestDatabase();
  engine = await TestEngine.create(database, folder.path);
  verbs = makeVerbs(engine.deps, () => undefined);
  random = new Random(7);
});
afterEach(async () => {
  await engine.close();
  await database.drop();
});

/** Starts them a few turns of the event loop apart, in either order. */
async function race<A, B>(one: () => Promise<A>, other: () => Promise<B>): Promise<[A, B]> {
  const [first, second] = [random.int(40), random.int(40)];
  return Promise.all([after(first, one), after(second, other)]);
}

async function after<T>(turns: number, work: () => Promise<T>): Promise<T> {
  for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
  return work();
}

/** The code of a refusal, or `ok`. */
async function codeOf(question: Promise<unknown>): Promise<string> {
  return question.then(
    () => "ok",
    (error: unknown) => (error as Problem).code,
  );
}

/** Completes queued tasks until the job has ended. */
async function finish(jobId: string): Promise<void> {
  for (let step = 0; step < 20; step++) {
    for (const message of await engine.take(jobId)) await engine.complete(message, { done: true });
    await engine.tick();
  }
}

/** Both outcomes must have occurred, or the two never raced. */
function expectBoth(seen: ReadonlyMap<string, number>, ...ways: readonly string[]): void {
  expect([...seen.keys()].sort()).toEqual([...ways].sort());
}

const count = (seen: Map<string, number>, what: string) =>
  seen.set(what, (seen.get(what) ?? 0) + 1);

describe("cancel", () => {
  it("against the last result: the first one decides, and the answer says so", async () => {
    const seen = new Map<string, number>();
    for (let round = 0; round < rounds; round++) {
      const { job_id } = await engine.submit("one");
      const [message] = await engine.take(job_id);
      await engine.complete(message!, { done: true });
      const [code] = await race(
        () => codeOf(verbs.cancel(job_id, "enough")),
        () => engine.tick(),
      );
      await engine.tick();
      const { status } = await engine.job(job_id);
      count(seen, `${code} ${status}`);
    }
    expectBoth(seen, "ok cancelled", "JOB_FINISHED completed");
    await expectInvariants(database.db);
  });

  it("against a retry that is due: nothing is queued for a cancelled job", async () => {
    const seen = new Map<string, number>();
    for (let round = 0; round < rounds; round++) {
      const { job_id } = await engine.submit("one");
      const [message] = await engine.take(job_id);
      await engine.fail(message!);
      await engine.tick();
      // The retry has been dispatched or is due now; either way a cancel ends it.
      await engine.fail({ ...message!, task_id: `${job_id}_a_1` });
      const [code] = await race(
        () => codeOf(verbs.cancel(job_id, "enough")),
        () => engine.tick(),
      );
      await engine.tick();
      const { status } = await engine.job(job_id);
      count(seen, `${code} ${status}`);
      expect(await engine.take(job_id)).toEqual([]);
    }
    expectBoth(seen, "ok cancelled", "JOB_FINISHED failed");
    await expectInvariants(database.db);
  });

  it("against the retry's own dispatch: it is withdrawn or never made", async () => {
    const seen = new Map<string, number>();
    for (let round = 0; round < rounds; round++) {
      const { job_id } = await engine.submit("one");
      const [message] = await engine.take(job_id);
      await engine.fail(message!);
      await race(
        () => verbs.cancel(job_id, "enough"),
        () => engine.tick(),
      );
      await engine.tick();
      expect((await engine.job(job_id)).status).toBe("cancelled");
      expect(await engine.take(job_id)).toEqual([]);
      const events = await engine.events(job_id);
      const retried = events.some(({ event_type }) => event_type === "node_retry");
      count(seen, retried ? "after the retry" : "before the retry");
    }
    expectBoth(seen, "after the retry", "before the retry");
    await expectInvariants(database.db);
  });
});

describe("pause", () => {
  it("against a result: it is recorded, and what follows waits for the resume", async () => {
    const seen = new Map<string, number>();
    for (let round = 0; round < rounds; round++) {
      const { job_id } = await engine.submit("two");
      const [message] = await engine.take(job_id);
      await engine.complete(message!, { done: true });
      await race(
        () => verbs.pause(job_id),
        () => engine.tick(),
      );
      await engine.tick();
      expect(await engine.statuses(job_id)).toMatchObject({ a: "completed" });
      const queued = await engine.take(job_id);
      count(seen, queued.length === 0 ? "before" : "after");
      for (const one of queued) await engine.complete(one, { done: true });
      await verbs.resume(job_id).catch(() => undefined);
      await engine.tick();
      await finish(job_id);
      expect((await engine.job(job_id)).status).toBe("completed");
    }
    expectBoth(seen, "before", "after");
    await expectInvariants(database.db);
  });

  it("against the last result: a job that has ended cannot be paused any more", async () => {
    const seen = new Map<string, number>();
    for (let round = 0; round < rounds; round++) {
      const { job_id } = await engine.submit("one");
      const [message] = await engine.take(job_id);
      await engine.complete(message!, { done: true });
      const [code] = await race(
        () => codeOf(verbs.pause(job_id)),
        () => engine.tick(),
      );
      count(seen, code);
      await engine.tick();
      await verbs.resume(job_id).catch(() => undefined);
      await engine.tick();
      expect((await engine.job(job_id)).status).toBe("completed");
    }
    expectBoth(seen, "ok", "JOB_FINISHED");
    await expectInvariants(database.db);
  });
});

describe("running a job again", () => {
  it("while it still runs is refused, and never half done", async () => {
    const seen = new Map<string, number>();
    for (let round = 0; round < rounds; round++) {
      const { job_id } = await engine.submit("fragile");
      const [a] = await engine.take(job_id);
      await engine.complete(a!, { done: true });
      await engine.tick();
      const [b] = await engine.take(job_id);
      await engine.fail(b!);
      const [code] = await race(
        () => codeOf(verbs.retry(job_id)),
        () => engine.tick(),
      );
      count(seen, code);
      expect((await engine.job(job_id)).status).toBe("failed");
    }
    expectBoth(seen, "ok", "JOB_NOT_FINISHED");
    const { rows } = await database.db.query<{ job_id: string }>(
      `SELECT job_id FROM dagapp.dag_jobs WHERE rerun_of IS NOT NULL`,
    );
    expect(rows.length).toBe(seen.get("ok"));
    for (const { job_id } of rows) {
      await finish(job_id);
      expect((await engine.job(job_id)).status).toBe("completed");
      // Kept from the first: it is not run again.
      const { rows: results } = await database.db.query(
        `SELECT FROM dagapp.dag_attempts WHERE job_id = $1 AND node_id = 'a'`,
        [job_id],
      );
      expect(results.length).toBe(0);
    }
    await expectInvariants(database.db);
  });

  it("twice at once makes two jobs that know nothing of each other", async () => {
    for (let round = 0; round < 10; round++) {
      const { job_id } = await engine.submit("two");
      await finish(job_id);
      const before = await engine.events(job_id);
      const again = () => verbs.rerun(job_id, { from_node: "b" });
      const [one, other] = await race(again, again);
      expect(one.job_id).not.toBe(other.job_id);
      for (const rerun of [one, other]) {
        await finish(rerun.job_id);
        expect((await engine.job(rerun.job_id)).status).toBe("completed");
      }
      expect(await engine.events(job_id)).toEqual(before);
    }
    await expectInvariants(database.db);
  });
});
