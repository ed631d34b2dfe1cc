/**
 * Programs that are frozen for longer than every lease and threshold, and then go on: what they write
 * from their old state must change nothing.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { expectInvariants } from "../support/chaos-invariants.ts";
import type { TestDatabase } from "../support/database.ts";
import { createTestDatabase } from "../support/database.ts";
import type { Orchestrator } from "../support/programs.ts";
import { Fleet, finished, submit } from "../support/programs.ts";
import { waitFor } from "../support/wait.ts";
import type { WorkFolder } from "./mixed-work.ts";
import { allEnded, frozen, makeWorkFolder, quick, twoQueues } from "./mixed-work.ts";

let folder: WorkFolder;
let database: TestDatabase;
let fleet: Fleet;

beforeAll(async () => {
  folder = await makeWorkFolder({
    one: "nodes: { a: { handler: echo, params: { n: 1 } } }",
    steps: `
nodes:
  a: { handler: sleep, params: { seconds: 0.05 }, next: [b, c] }
  b: { handler: echo }
  c: { handler: probe, params: { mode: fail_once }, retry: { max_attempts: 1, initial_delay_seconds: 0 } }
  d: { handler: echo, depends_on: [b, c] }`,
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

const ownerOf = async (id: string) => {
  const { rows } = await database.db.query<{ owner_id: string }>(
    `SELECT owner_id FROM dagapp.dag_jobs WHERE job_id = $1`,
    [id],
  );
  return rows[0]?.owner_id;
};

/** Every row that a stale write could have touched. */
const rowsOf = async (id: string) => {
  const tables = ["dag_jobs", "dag_node_states", "dag_job_events", "dag_task_results"];
  const all: Record<string, unknown> = {};
  for (const table of tables) {
    const { rows } = await database.db.query(
      `SELECT * FROM dagapp.${table} WHERE job_id = $1 ORDER BY 1, 2`,
      [id],
    );
    all[table] = rows;
  }
  return all;
};

/** Runs one job, to show that the orchestrator works again. */
async function expectUseful(orchestrator: Orchestrator): Promise<void> {
  const id = await submit(orchestrator, "one");
  expect((await finished(orchestrator, id)).status).toBe("completed");
}

describe("an orchestrator that was frozen", () => {
  it("between two ticks finds that its job is another's, and writes nothing", async () => {
    const stale = await fleet.orchestrator({
      ...quick,
      RMHDAG_FAIL_POINT: "tick.after_commit:1:SIGSTOP",
    });
    // Its cached state of the job is older than the rows when it goes on.
    const id = await submit(stale, "steps");
    const owner = await ownerOf(id);
    await fleet.worker(twoQueues);
    await frozen(stale);
    const heir = await fleet.orchestrator(quick);
    expect((await finished(heir, id)).status).toBe("completed");
    expect(await ownerOf(id)).not.toBe(owner);
    const before = await rowsOf(id);
    stale.signal("SIGCONT");
    await expectUseful(stale);
    expect(await rowsOf(id)).toEqual(before);
    await expectInvariants(database.db);
  });

  it.each([
    ["tick.jobs_locked", "asked the database", "false"],
    ["tick.before_commit", "asked the database", "false"],
    ["tick.before_commit", "was told", "true"],
  ])(
    "at %s, when it %s, loses its locks and its transaction",
    async (point, _source, WORKER_LINKS) => {
      const url = new URL(database.url);
      url.searchParams.set("idle_in_transaction_session_timeout", "1000");
      const short = new Fleet(url.href, folder.path);
      try {
        const stale = await short.orchestrator({
          ...quick,
          RMHDAG_FAIL_POINT: `${point}:1:SIGSTOP`,
        });
        const id = await submit(stale, "one");
        await short.worker({ ...twoQueues, WORKER_LINKS });
        await frozen(stale);
        const heir = await short.orchestrator(quick);
        expect((await finished(heir, id)).status).toBe("completed");
        const before = await rowsOf(id);
        stale.signal("SIGCONT");
        await expectUseful(stale);
        expect(await rowsOf(id)).toEqual(before);
        await expectInvariants(database.db);
      } finally {
        await short.stop();
      }
    },
  );
});

describe("a worker that was frozen", () => {
  it.each(["worker.before_run", "worker.before_report"])(
    "at %s for longer than its lease reports in vain",
    async (point) => {
      const orchestrator = await fleet.orchestrator(quick);
      const stale = await fleet.worker({
        ...twoQueues,
        RMHDAG_FAIL_POINT: `${point}:1:SIGSTOP`,
      });
      const id = await submit(orchestrator, "one");
      await frozen(stale);
      await fleet.worker(twoQueues);
      expect((await finished(orchestrator, id)).status).toBe("completed");
      const before = await rowsOf(id);
      stale.signal("SIGCONT");
      await waitFor(() => /no longer ours|task stopped/.test(stale.output()), {
        what: "the worker to notice",
      });
      expect(await rowsOf(id)).toEqual(before);
      const { rows } = await database.db.query(
        `SELECT worker_id FROM dagapp.dag_attempts WHERE job_id = $1`,
        [id],
      );
      expect(rows.length).toBe(1);
      await expectInvariants(database.db);
    },
  );

  it("reports over HTTP a result that is recorded already, and goes on to the next task", async () => {
    const orchestrator = await fleet.orchestrator(quick);
    const stale = await fleet.worker({
      ...twoQueues,
      DAG_CALLBACK_URL: orchestrator.url,
      RMHDAG_FAIL_POINT: "worker.before_report:1:SIGSTOP",
    });
    const id = await submit(orchestrator, "one");
    await frozen(stale);
    const heir = await fleet.worker(twoQueues);
    expect((await finished(orchestrator, id)).status).toBe("completed");
    const before = await rowsOf(id);
    stale.signal("SIGCONT");
    // It works again: alone, it finishes the next job.
    heir.signal("SIGTERM");
    await heir.gone;
    await expectUseful(orchestrator);
    expect(await rowsOf(id)).toEqual(before);
    await expectInvariants(database.db);
  });
});

// With two orchestrators and killed programs: programs.test.ts in test/system, and the chaos test.
describe("five orchestrators and two workers", () => {
  it("share the work while one of each is frozen and comes back", async () => {
    const count = 5;
    const url = new URL(database.url);
    url.searchParams.set("idle_in_transaction_session_timeout", "1000");
    fleet = new Fleet(url.href, folder.path);
    const orchestrators: Orchestrator[] = [];
    for (let i = 0; i < count; i++) orchestrators.push(await fleet.orchestrator(quick));
    const total = 60;
    for (let i = 0; i < total; i += 10) {
      const some = Array.from({ length: 10 }, (_, k) => submit(orchestrators[k % count]!, "steps"));
      await Promise.all(some);
    }
    // No worker has started yet, so its jobs can only end with another owner.
    const stale = orchestrators[0]!;
    stale.signal("SIGSTOP");
    const workers = [await fleet.worker(twoQueues), await fleet.worker(twoQueues)];
    await waitFor(async () => (await countRows(`dag_attempts`)) > 5, {
      what: "work to be done",
    });
    workers[0]!.signal("SIGSTOP");
    const claimed = () => countRows(`dag_unpacked_events WHERE event_type = 'job_claimed'`);
    await waitFor(async () => (await claimed()) >= Math.floor(total / count), {
      timeoutMs: 20_000,
      what: "all jobs of the frozen one to be taken over",
    });
    for (const program of [stale, workers[0]!]) program.signal("SIGCONT");
    const jobs = await allEnded(database.db, total);
    expect(new Set(jobs.map(({ status }) => status))).toEqual(new Set(["completed"]));
    await expectUseful(stale);
    await expectInvariants(database.db);
  });

  async function countRows(what: string): Promise<number> {
    const { rows } = await database.db.query<{ n: number }>(
      `SELECT count(*)::integer AS n FROM dagapp.${what}`,
    );
    return rows[0]?.n ?? 0;
  }
});
