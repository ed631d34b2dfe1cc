import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "vitest";
import type { Database } from "../../src/adapters/postgres/database.ts";
import { describeStuck } from "../support/chaos-invariants.ts";
import type { Program } from "../support/programs.ts";
import { waitFor } from "../support/wait.ts";

/** One workflow for each kind of node and retry; together they reach every fail point. */
const workflows = {
  chain: `
nodes:
  a: { handler: echo, params: { n: "{{ inputs.n }}" }, next: b }
  b: { handler: hello_world, next: c }
  c: { handler: echo, params: { n: "{{ nodes.a.output.echoed_params.n }}" } }
outputs: { n: "{{ nodes.c.output.echoed_params.n }}" }`,
  spread: `
nodes:
  split:
    type: fan_out
    source: "{{ inputs.items }}"
    max_concurrency: 3
    task:
      handler: probe
      params: { mode: fail_once, value: "{{ item }}" }
      retry: { max_attempts: 2, backoff: fixed, initial_delay_seconds: 0 }
    next: join
  join: { type: fan_in, aggregation: collect, next: report }
  report: { handler: echo, params: { count: "{{ nodes.join.output.count }}" } }
outputs: { all: "{{ nodes.join.output.results }}", count: "{{ nodes.join.output.count }}" }`,
  branch: `
nodes:
  measure: { handler: size_check, params: { size_mb: "{{ inputs.size }}" }, next: route }
  route:
    type: conditional
    condition: "{{ nodes.measure.output.is_large }} == true"
    on_true: heavy
    on_false: light
  heavy: { handler: echo }
  light: { handler: echo }
  last: { handler: echo, depends_on: { any_of: [heavy, light] } }`,
  phases: `
nodes:
  work:
    handler: multi_phase
    params: { phases: 4, seconds_per_phase: 0.03, fail_in_phase: 3 }
    retry: { max_attempts: 2, backoff: fixed, initial_delay_seconds: 0 }`,
  nap: "nodes: { nap: { handler: sleep, params: { seconds: 600 } } }",
  // No worker of these tests takes from this queue: its message waits.
  doomed: "nodes: { a: { handler: echo, queue: container-tasks, retry: { max_attempts: 0 } } }",
} as const;

export type WorkName = keyof typeof workflows;

export interface WorkFolder {
  readonly path: string;
  remove(): Promise<void>;
}

export async function makeWorkFolder(
  more: Readonly<Record<string, string>> = {},
): Promise<WorkFolder> {
  const folder = await mkdtemp(path.join(tmpdir(), "rmhdag-faults-"));
  for (const [name, text] of Object.entries({ ...workflows, ...more })) {
    await writeFile(path.join(folder, `${name}.yaml`), text);
  }
  return { path: folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** Short enough to wait for, long enough that a busy machine is not taken for a dead one. */
export const quick = {
  HEARTBEAT_INTERVAL_SEC: "0.3",
  ORPHAN_THRESHOLD_SEC: "1",
  ORPHAN_SCAN_INTERVAL_SEC: "0.3",
  RECOVER_INTERVAL_SEC: "0.3",
  POLL_INTERVAL_SEC: "0.5",
  LEASE_SEC: "1",
  MAX_DELIVERIES: "20",
};

/** Without GDAL's programs, which a worker would ask for their version at each of its many starts. */
export const twoQueues = {
  WORKER_QUEUE: "functionapp-tasks,dag-worker-tasks",
  GDAL_ENGINE: "wasm",
};

/** Answers the exit code of a program that dies at its fail-point: null, because it was killed. */
export const dead = (program: Program, name: string) =>
  Promise.race([
    program.gone,
    new Promise<never>((_, reject) =>
      setTimeout(() => {
        reject(new Error(`nothing reached ${name}`));
      }, 20_000).unref(),
    ),
  ]);

/** Waits until a program has stopped itself at its fail-point. */
export async function frozen({ name, pid }: Program): Promise<void> {
  await waitFor(async () => /^State:\s+T/m.test(await readFile(`/proc/${pid}/status`, "utf8")), {
    timeoutMs: 20_000,
    what: `${name} to be frozen`,
  });
}

export interface EndedJob {
  readonly job_id: string;
  readonly workflow_id: string;
  readonly idempotency_key: string | null;
  readonly status: string;
  readonly result_data: Record<string, unknown> | null;
  readonly error_code: string | null;
  readonly error_message: string | null;
}

/** Waits for the end of so many jobs, or fails with a description of those that are stuck. */
export async function allEnded(
  db: Database,
  count: number,
  timeoutMs = 45_000,
): Promise<readonly EndedJob[]> {
  try {
    await waitFor(
      async () => {
        const { rows } = await db.query<{ ended: number }>(
          `SELECT count(*)::integer AS ended FROM dagapp.dag_jobs
           WHERE status IN ('completed', 'failed', 'cancelled')`,
        );
        return rows[0]?.ended === count;
      },
      { timeoutMs, what: `the end of ${count} jobs`, isFinal: true },
    );
  } catch (error) {
    throw new Error(`${String(error)}\n${await describeStuck(db)}`, { cause: error });
  }
  const { rows } = await db.query<EndedJob>(
    `SELECT job_id, workflow_id, idempotency_key, status, result_data, error_code, error_message
     FROM dagapp.dag_jobs ORDER BY idempotency_key`,
  );
  return rows;
}

/** Each job of the mix by its key, with the end that it must have. */
export function expectMixedEnds(jobs: readonly EndedJob[]): void {
  const ends = Object.fromEntries(
    jobs.map(({ idempotency_key, status, error_code }) => [
      idempotency_key ?? "",
      error_code === null ? status : `${status} ${error_code}`,
    ]),
  );
  expect(ends).toEqual({
    chain: "completed",
    spread: "completed",
    branch: "completed",
    phases: "completed",
    halted: "completed",
    nap: "cancelled",
    doomed: "failed DEAD_LETTERED",
    "message:by-queue": "completed",
  });
  const byKey = new Map(jobs.map((job) => [job.idempotency_key, job]));
  expect(byKey.get("chain")?.result_data).toMatchObject({ n: 7 });
  const values = [10, 11, 12, 13, 14, 15].map((value) => ({ mode: "fail_once", value }));
  expect(byKey.get("spread")?.result_data).toMatchObject({ all: values, count: 6 });
  expect(byKey.get("phases")?.result_data).toMatchObject({ work: { phases_completed: 4 } });
}
