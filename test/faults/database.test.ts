/** Faults of the database and of the connections to it. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openDatabase } from "../../src/adapters/postgres/database.ts";
import { ApiError } from "../../src/core/api/api-error.ts";
import { expectInvariants } from "../support/chaos-invariants.ts";
import type { ChaosProxy } from "../support/chaos-proxy.ts";
import { startChaosProxy } from "../support/chaos-proxy.ts";
import { startChaosServer } from "../support/chaos-server.ts";
import type { TestDatabase } from "../support/database.ts";
import { createTestDatabase } from "../support/database.ts";
import type { Orchestrator } from "../support/programs.ts";
import { connected } from "../support/push.ts";
import { Fleet, finished, submit } from "../support/programs.ts";
import { waitFor } from "../support/wait.ts";
import type { WorkFolder } from "./mixed-work.ts";
import { allEnded, makeWorkFolder, quick, twoQueues } from "./mixed-work.ts";

let folder: WorkFolder;
let database: TestDatabase;
let proxy: ChaosProxy;
let fleet: Fleet;

beforeAll(async () => {
  folder = await makeWorkFolder({
    one: "nodes: { a: { handler: echo, params: { n: 1 } } }",
    two: "nodes: { a: { handler: echo, next: b }, b: { handler: echo } }",
  });
});
afterAll(() => folder.remove());
beforeEach(async () => {
  database = await createTestDatabase();
  proxy = await startChaosProxy(database.url);
  fleet = new Fleet(proxy.url, folder.path);
});
afterEach(async () => {
  await fleet.stop();
  await proxy.close();
  await database.drop();
});

/** Repeats a submission until it is answered; its key makes it one job. */
async function submitUntilTaken(
  orchestrator: Orchestrator,
  key: string,
  workflow: string,
): Promise<string> {
  return waitFor(
    async () => {
      const body = {
        workflow_id: workflow,
        inputs: { items: [1, 2, 3], n: 1 },
        idempotency_key: key,
      };
      return (await orchestrator.client.submitJob({ body })).job_id;
    },
    { timeoutMs: 30_000, what: `job ${key} to be taken` },
  );
}

describe("a commit that was applied while its answer was lost", () => {
  it("of a submission makes one job, and the next submission with the key gets its id", async () => {
    const orchestrator = await fleet.orchestrator(quick);
    await fleet.worker(twoQueues);
    const lost = proxy.loseAnswer({ after: "insert_jobs", at: "COMMIT" });
    const body = { workflow_id: "two", inputs: {}, idempotency_key: "k" };
    await expect(orchestrator.client.submitJob({ body })).rejects.toThrow(ApiError);
    await lost;
    const again = await orchestrator.client.submitJob({ body });
    expect(again).toMatchObject({ created: false });
    expect((await finished(orchestrator, again.job_id)).status).toBe("completed");
    expect((await allEnded(database.db, 1)).length).toBe(1);
    await expectInvariants(database.db);
  });

  it("of a tick is found in the tables by the next one", async () => {
    const orchestrator = await fleet.orchestrator(quick);
    const id = await submit(orchestrator, "two");
    const lost = proxy.loseAnswer({ after: "update_nodes", at: "COMMIT" });
    await fleet.worker(twoQueues);
    await lost;
    expect((await finished(orchestrator, id)).status).toBe("completed");
    await expectInvariants(database.db);
  });

  it("of a report is not reported twice", async () => {
    const orchestrator = await fleet.orchestrator(quick);
    const id = await submit(orchestrator, "two");
    const lost = proxy.loseAnswer({ at: "dag_record_reports" });
    const worker = await fleet.worker({ ...twoQueues, WORKER_LINKS: "false" });
    await lost;
    expect((await finished(orchestrator, id)).status).toBe("completed");
    await waitFor(() => worker.output().includes("no longer ours"), { what: "the second report" });
    const { rows } = await database.db.query(`SELECT FROM dagapp.dag_attempts`);
    expect(rows.length).toBe(2);
    await expectInvariants(database.db);
  });

  it("of what was told is not recorded twice, and what it led to is done", async () => {
    const orchestrator = await fleet.orchestrator(quick);
    await fleet.worker(twoQueues);
    await connected(orchestrator, "two");
    const lost = proxy.loseAnswer({ after: "dag_complete_reported", at: "COMMIT" });
    const id = await submit(orchestrator, "two");
    await lost;
    expect((await finished(orchestrator, id)).status).toBe("completed");
    const { rows } = await database.db.query(`SELECT FROM dagapp.dag_attempts WHERE job_id = $1`, [
      id,
    ]);
    expect(rows.length).toBe(2);
    await expectInvariants(database.db);
  });

  it("of a take-over leaves the job with its new owner", async () => {
    const first = await fleet.orchestrator(quick);
    const id = await submit(first, "two");
    const heir = await fleet.orchestrator(quick);
    const lost = proxy.loseAnswer({ after: "job_claimed", at: "COMMIT" });
    first.signal("SIGKILL");
    await lost;
    await fleet.worker(twoQueues);
    expect((await finished(heir, id)).status).toBe("completed");
    await expectInvariants(database.db);
  });
});

describe("connections", () => {
  it("that are all killed again and again cost no job", async () => {
    const orchestrator = await fleet.orchestrator(quick);
    await fleet.worker(twoQueues);
    const kill = async () => {
      const { rows } = await database.db.query<{ killed: number }>(
        `SELECT count(pg_terminate_backend(pid))::integer AS killed FROM pg_stat_activity
         WHERE datname = current_database() AND application_name <> 'rmhdag test'
           AND backend_type = 'client backend'`,
      );
      return rows[0]?.killed ?? 0;
    };
    const total = 60;
    for (let i = 0; i < total; i++) {
      await submitUntilTaken(orchestrator, `job ${i}`, i % 3 === 0 ? "spread" : "chain");
      // All connections of the programs, in the middle of their work.
      if (i % 2 === 0) await waitFor(async () => (await kill()) >= 3, { what: "victims" });
    }
    const jobs = await allEnded(database.db, total);
    expect(new Set(jobs.map(({ status }) => status))).toEqual(new Set(["completed"]));
    await expectInvariants(database.db);
  });

  it("that listen and get no notification any more are made up for by the poll", async () => {
    const orchestrator = await fleet.orchestrator(quick);
    await fleet.worker(twoQueues);
    // All parts of a process share one: the orchestrator's and the worker's.
    await waitFor(() => proxy.silence("LISTEN") >= 2, { what: "two that listen" });
    const id = await submit(orchestrator, "chain", { n: 1 });
    expect((await finished(orchestrator, id, 30_000)).status).toBe("completed");
    await expectInvariants(database.db);
  });

  it("that go silent in the middle of everything are given up", async () => {
    const url = new URL(proxy.url);
    url.searchParams.set("query_timeout", "1500");
    const patient = new Fleet(url.href, folder.path);
    try {
      const orchestrator = await patient.orchestrator(quick);
      await patient.worker(twoQueues);
      await submit(orchestrator, "chain", { n: 1 });
      expect(proxy.silence("")).toBeGreaterThan(5);
      await submitUntilTaken(orchestrator, "later", "chain");
      const jobs = await allEnded(database.db, 2);
      expect(jobs.map(({ status }) => status)).toEqual(["completed", "completed"]);
      await expectInvariants(database.db);
    } finally {
      await patient.stop();
    }
  });
});

describe("statements that the server refuses for a moment", () => {
  it("are repeated: deadlocks and serialization failures cost nothing", async () => {
    // A sequence does not roll back, so every fifth insert fails, the first ones too. Not every
    // third: a transaction makes up to three, and would fail for ever.
    await database.db.query(
      `CREATE SEQUENCE fault_count;
       CREATE FUNCTION fault() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
       DECLARE n bigint := nextval('fault_count');
       BEGIN
         IF n % 5 = 0 THEN
           RAISE EXCEPTION 'a fault' USING ERRCODE = CASE WHEN n % 2 = 0 THEN '40001' ELSE '40P01' END;
         END IF;
         RETURN NULL;
       END $$;
       CREATE TRIGGER fault AFTER INSERT ON dagapp.dag_job_events
         FOR EACH STATEMENT EXECUTE FUNCTION fault();
       CREATE TRIGGER fault AFTER INSERT ON dagapp.dag_queue_leases
         FOR EACH STATEMENT EXECUTE FUNCTION fault();
       CREATE TRIGGER fault AFTER INSERT ON dagapp.dag_task_results
         FOR EACH STATEMENT EXECUTE FUNCTION fault();`,
    );
    const orchestrator = await fleet.orchestrator(quick);
    await fleet.worker(twoQueues);
    for (let i = 0; i < 12; i++) {
      await submitUntilTaken(orchestrator, `job ${i}`, i % 2 === 0 ? "spread" : "chain");
    }
    const jobs = await allEnded(database.db, 12);
    expect(new Set(jobs.map(({ status }) => status))).toEqual(new Set(["completed"]));
    const { rows } = await database.db.query<{ n: number }>(
      `SELECT last_value::integer AS n FROM fault_count`,
    );
    expect(rows[0]!.n).toBeGreaterThan(30);
    await expectInvariants(database.db);
  });
});

describe("a server that is shut down immediately every few moments", () => {
  it("loses no job and no success, and the programs outlive it", async () => {
    const server = await startChaosServer();
    const own = new Fleet(server.url, folder.path);
    const db = openDatabase({ url: server.url, applicationName: "rmhdag test" });
    try {
      const orchestrators = [await own.orchestrator(quick), await own.orchestrator(quick)];
      const workers = [await own.worker(twoQueues), await own.worker(twoQueues)];
      const rounds = 4;
      const perRound = 10;
      for (let round = 0; round < rounds; round++) {
        const from = await events();
        const taken = Array.from({ length: perRound }, (_, i) =>
          submitUntilTaken(
            orchestrators[i % 2]!,
            `job ${round} ${i}`,
            i % 3 === 0 ? "spread" : "chain",
          ),
        );
        await waitFor(async () => (await events()) > from + 20, {
          timeoutMs: 30_000,
          what: "work to go on",
        });
        await server.crash();
        await server.start();
        await Promise.all(taken);
      }
      const jobs = await allEnded(db, rounds * perRound);
      expect(new Set(jobs.map(({ status }) => status))).toEqual(new Set(["completed"]));
      await expectInvariants(db);
      for (const program of [...orchestrators, ...workers]) {
        expect(program.output()).not.toContain("FATAL");
      }
    } finally {
      await own.stop();
      await db.close();
      await server.stop();
    }

    async function events(): Promise<number> {
      const { rows } = await db.query<{ n: number }>(
        `SELECT count(*)::integer AS n FROM dagapp.dag_unpacked_events`,
      );
      return rows[0]?.n ?? 0;
    }
  });
});
