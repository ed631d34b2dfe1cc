/**
 * The crash matrix of the worker protocol: a worker over HTTP, a worker in Python and the orchestrator
 * between them die at every step where the protocol differs from that of a worker with a database. Each
 * death has a job of its own, and the next program takes over what the dead one left.
 */
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { FailPoint } from "../../src/adapters/runtime/fail-points.ts";
import type { Balancer } from "../support/balance.ts";
import { startBalancer } from "../support/balance.ts";
import { expectInvariants } from "../support/chaos-invariants.ts";
import type { TestDatabase } from "../support/database.ts";
import { createTestDatabase } from "../support/database.ts";
import type { Orchestrator } from "../support/programs.ts";
import { Fleet } from "../support/programs.ts";
import type { WorkFolder } from "./mixed-work.ts";
import { allEnded, dead, makeWorkFolder, quick, twoQueues } from "./mixed-work.ts";

const values = [10, 11, 12, 13, 14, 15];
/** Tasks that fail once, and a task that goes on from its checkpoints. */
const workflow = (queue: string, once: string, phases: string) => `
nodes:
  many:
    type: fan_out
    source: ${JSON.stringify(values)}
    task: { queue: ${queue}, ${once}, retry: { max_attempts: 2, backoff: fixed, initial_delay_seconds: 0 } }
    next: join
  join: { type: fan_in, aggregation: collect, next: work }
  work: { queue: ${queue}, ${phases}, retry: { max_attempts: 2, backoff: fixed, initial_delay_seconds: 0 } }
outputs: { all: "{{ nodes.join.output.results }}", phases: "{{ nodes.work.output.phases_completed }}" }
`;
const workflows = {
  far_http: workflow(
    "crash-http",
    'handler: probe, params: { mode: fail_once, value: "{{ item }}" }',
    "handler: multi_phase, params: { phases: 4, seconds_per_phase: 0, fail_in_phase: 3 }",
  ),
  far_python: workflow(
    "crash-python",
    'handler: crash.once, params: { value: "{{ item }}" }',
    "handler: crash.phases, params: { phases: 4 }",
  ),
};
const names = Object.keys(workflows) as (keyof typeof workflows)[];

/** The steps of a worker, of ours in TypeScript and of that in Python. */
const httpPoints: readonly FailPoint[] = [
  "worker.received",
  "worker.before_report",
  "worker.after_report",
  "worker.checkpoint_before_save",
  "worker.checkpoint_after_save",
];
const pythonPoints = [
  "lease.after",
  "report.before",
  "report.after",
  "checkpoint.before",
  "checkpoint.after",
];
/** The steps of the orchestrator between a call of such a worker and its answer, and of the tick after. */
const orchestratorPoints: readonly FailPoint[] = [
  "remote.leased",
  "callback.before_record",
  "remote.recorded",
  "callback.after_record",
  "remote.checkpoint_saved",
  "tick.before_commit",
  "tick.after_commit",
];

describe("workers over HTTP and in Python, killed at each step of their protocol", () => {
  let folder: WorkFolder;
  let database: TestDatabase;
  let fleet: Fleet;
  let balancer: Balancer;
  let orchestrator: Orchestrator;
  const keys = new Set<string>();

  beforeAll(async () => {
    folder = await makeWorkFolder(workflows);
    database = await createTestDatabase();
    fleet = new Fleet(database.url, folder.path);
    orchestrator = await fleet.orchestrator(quick);
    balancer = await startBalancer(() => orchestrator);
  });
  afterAll(async () => {
    await fleet.stop();
    await balancer.close();
    await database.drop();
    await folder.remove();
  });

  const startHttp = (env: Record<string, string> = {}) =>
    fleet.httpWorker(balancer.url, { ...twoQueues, WORKER_QUEUE: "crash-http", ...env });
  const startPython = (env: Record<string, string> = {}) =>
    fleet.pythonWorker(
      balancer.url,
      path.join(import.meta.dirname, "../support/crash-worker.py"),
      env,
    );

  async function submit(workflow_id: string, point: string): Promise<void> {
    const idempotency_key = `${workflow_id} ${point}`;
    keys.add(idempotency_key);
    await orchestrator.client.submitJob({ body: { workflow_id, inputs: {}, idempotency_key } });
  }

  async function expectEnds(): Promise<void> {
    const jobs = await allEnded(database.db, keys.size);
    for (const { workflow_id, status, result_data } of jobs) {
      const isPython = workflow_id === "far_python";
      const all = values.map((value) => (isPython ? { value } : { mode: "fail_once", value }));
      expect({ status, result_data }).toMatchObject({
        status: "completed",
        result_data: { all, phases: 4 },
      });
    }
    await expectInvariants(database.db);
    // What the worker measured is stored with the success that it belongs to.
    const { rows } = await database.db.query<{ jobs: number; measured: number }>(
      `SELECT count(DISTINCT n.job_id)::integer AS jobs,
         count(m.metrics ->> 'value')::integer AS measured
       FROM dagapp.dag_node_states n JOIN dagapp.dag_jobs j USING (job_id)
       LEFT JOIN dagapp.dag_task_metrics m USING (task_id)
       WHERE j.workflow_id = 'far_python' AND n.parent_node_id = 'many'`,
    );
    expect(rows[0]?.measured).toBe((rows[0]?.jobs ?? 0) * values.length);
  }

  it("costs no job, no success and no event when a worker dies", async () => {
    const killHttp = async () => {
      for (const point of httpPoints) {
        const worker = await startHttp({ RMHDAG_FAIL_POINT: point });
        await submit("far_http", point);
        expect(await dead(worker, point)).toBeNull();
      }
      await startHttp();
    };
    const killPython = async () => {
      for (const point of pythonPoints) {
        const worker = await startPython({ CRASH_AT: point });
        await submit("far_python", point);
        expect(await dead(worker, point)).toBeNull();
      }
      await startPython();
    };
    await Promise.all([killHttp(), killPython()]);
    await expectEnds();
  });

  it("costs nothing when the orchestrator dies between their calls and its answers", async () => {
    for (const point of orchestratorPoints) {
      orchestrator.signal("SIGKILL");
      orchestrator = await fleet.orchestrator({ ...quick, RMHDAG_FAIL_POINT: `${point}:2` });
      // The orchestrator may die before it has answered.
      await Promise.all(names.map((name) => submit(name, point).catch(() => undefined)));
      expect(await dead(orchestrator, point)).toBeNull();
    }
    orchestrator = await fleet.orchestrator(quick);
    for (const point of orchestratorPoints) for (const name of names) await submit(name, point);
    await expectEnds();
  });
});
