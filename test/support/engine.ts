import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createPostgresBroker } from "../../src/adapters/broker/postgres-broker/create-postgres-broker.ts";
import { openHotDatabase } from "../../src/adapters/postgres/hot-database.ts";
import { createGraphCache } from "../../src/adapters/postgres/queries/graph-cache.ts";
import { systemClock } from "../../src/adapters/runtime/clock.ts";
import { createLogger } from "../../src/adapters/runtime/logger.ts";
import { createLocalStorage } from "../../src/adapters/storage/local-storage.ts";
import { handlerCatalogue } from "../../src/core/handlers/index.ts";
import type { TaskMessage } from "../../src/core/messages.ts";
import type { JsonObject } from "../../src/core/model/json.ts";
import type { TaskError } from "../../src/core/model/task.ts";
import { taskQueues } from "../../src/core/queues.ts";
import { PushConnections } from "../../src/adapters/broker/postgres-broker/push/connections.ts";
import { recordEnds, recordStarts } from "../../src/orchestrator/assets/record-ends.ts";
import { DatabaseClock } from "../../src/orchestrator/engine/database-clock.ts";
import { createEndWaiters } from "../../src/orchestrator/engine/end-waiters.ts";
import { StateCache } from "../../src/orchestrator/engine/job-state.ts";
import { createOutputStore } from "../../src/orchestrator/engine/output-store.ts";
import { createQuarantine } from "../../src/orchestrator/engine/quarantine.ts";
import { tick } from "../../src/orchestrator/engine/tick.ts";
import type { JobDeps } from "../../src/orchestrator/jobs/deps.ts";
import { prepareJob, submitJobs } from "../../src/orchestrator/jobs/submit-jobs.ts";
import type { SubmitAnswer, SubmitRequest } from "../../src/orchestrator/jobs/verbs.ts";
import { createWorkflowRegistry } from "../../src/orchestrator/workflows/registry.ts";
import type { TestDatabase } from "./database.ts";
import type { RecordedEvent, Replayed } from "./replay.ts";
import { expectReplay } from "./replay.ts";

/** One orchestrator's engine on a real database, without its timers: a test decides when it ticks. */
export class TestEngine {
  readonly deps: JobDeps;
  readonly connections: PushConnections;
  readonly folder: string;
  private readonly database: TestDatabase;

  private constructor(
    database: TestDatabase,
    deps: JobDeps,
    connections: PushConnections,
    folder: string,
  ) {
    this.database = database;
    this.deps = deps;
    this.connections = connections;
    this.folder = folder;
  }

  static async create(
    database: TestDatabase,
    workflows: string,
    settings: Pick<JobDeps, "fanOutBlock"> = {},
  ): Promise<TestEngine> {
    const { url } = database;
    const db = openHotDatabase({ url, applicationName: "test engine" });
    const folder = await mkdtemp(path.join(tmpdir(), "rmhdag-engine-"));
    const ownerId = `orch-${randomUUID().slice(0, 8)}`;
    const log = createLogger({ name: "test", level: "silent", format: "json" });
    const connections = new PushConnections(() => undefined);
    const deps: JobDeps = {
      db,
      broker: createPostgresBroker({
        db,
        url,
        holder: ownerId,
        log,
        pushConnections: connections,
      }),
      clock: systemClock,
      databaseClock: new DatabaseClock(),
      ownerId,
      workflows: createWorkflowRegistry({
        db,
        paths: [workflows],
        options: { handlers: handlerCatalogue, queues: new Set(taskQueues), env: new Set() },
        log,
      }),
      graphs: createGraphCache(db),
      cache: new StateCache(),
      outputs: createOutputStore(createLocalStorage(folder)),
      quarantine: createQuarantine(log),
      endWaiters: createEndWaiters(db),
      env: {},
      maxFanOut: 150_000,
      ...settings,
      jobHooks: { onJobsStarted: recordStarts, onJobsEnded: recordEnds },
    };
    for (const queue of taskQueues) {
      await deps.broker.ensureQueue(queue, { leaseMs: 30_000, maxDeliveries: 5 });
    }
    return new TestEngine(database, deps, connections, folder);
  }

  async close(): Promise<void> {
    await this.deps.broker.close();
    await this.deps.db.close();
    await rm(this.folder, { recursive: true, force: true });
  }

  async submit(
    workflowId: string,
    inputs: JsonObject = {},
    extra: Partial<SubmitRequest> = {},
  ): Promise<SubmitAnswer> {
    const prepared = await prepareJob(this.deps, { workflow_id: workflowId, inputs, ...extra });
    const [answer] = await submitJobs(this.deps, [prepared]);
    if (answer === undefined || answer instanceof Error) throw answer ?? new Error("no answer");
    return answer;
  }

  async tick(): Promise<void> {
    while ((await tick(this.deps)).more);
  }

  /** Takes what is queued for a job, as a worker would, and leaves it unanswered. */
  async take(jobId: string): Promise<TaskMessage[]> {
    const { rows } = await this.database.db.query<{ body: string }>(
      `DELETE FROM dagapp.dag_queue_ready WHERE group_key = $1 RETURNING body`,
      [jobId],
    );
    const messages = rows.map(({ body }) => JSON.parse(body) as TaskMessage);
    return messages.sort((a, b) => (a.task_id < b.task_id ? -1 : 1));
  }

  async complete(message: TaskMessage, output: JsonObject): Promise<void> {
    await this.completeAll([{ message, output }]);
  }

  async completeAll(
    done: readonly { readonly message: TaskMessage; readonly output: JsonObject }[],
  ): Promise<void> {
    await this.database.db.query(
      `WITH recorded AS (
         INSERT INTO dagapp.dag_task_results (task_id, job_id, node_id, status, output, worker_id)
         SELECT task_id, job_id, node_id, 'completed', output::jsonb, 'test'
         FROM unnest($1::text[], $2::text[], $3::text[], $4::text[])
           AS given(task_id, job_id, node_id, output)
         ON CONFLICT DO NOTHING RETURNING task_id, job_id)
       INSERT INTO dagapp.dag_task_inbox (task_id, job_id) SELECT task_id, job_id FROM recorded`,
      [
        done.map(({ message }) => message.task_id),
        done.map(({ message }) => message.job_id),
        done.map(({ message }) => message.node_id),
        done.map(({ output }) => JSON.stringify(output)),
      ],
    );
  }

  async fail(message: TaskMessage, error: Partial<TaskError> = {}): Promise<void> {
    const full = { code: "BOOM", message: "boom", category: "transient", ...error };
    await this.database.db.query(
      `WITH recorded AS (
         INSERT INTO dagapp.dag_task_results (task_id, job_id, node_id, status, error, worker_id)
         VALUES ($1, $2, $3, 'failed', $4, 'test') ON CONFLICT DO NOTHING RETURNING task_id, job_id)
       INSERT INTO dagapp.dag_task_inbox (task_id, job_id) SELECT task_id, job_id FROM recorded`,
      [message.task_id, message.job_id, message.node_id, JSON.stringify(full)],
    );
  }

  async job(jobId: string) {
    const { rows } = await this.database.db.query<{
      status: string;
      result_data: JsonObject | null;
      error_code: string | null;
      error_message: string | null;
      failed_node_id: string | null;
      owner_id: string | null;
      workflow_hash: string;
      rerun_of: string | null;
      paused: boolean;
    }>(
      `SELECT status, result_data, error_code, error_message, failed_node_id, owner_id,
         workflow_hash, rerun_of, paused_at IS NOT NULL AS paused
       FROM dagapp.dag_jobs WHERE job_id = $1`,
      [jobId],
    );
    if (rows[0] === undefined) throw new Error(`no job ${jobId}`);
    return rows[0];
  }

  async statuses(jobId: string): Promise<Record<string, string>> {
    const { rows } = await this.database.db.query<{ node_id: string; status: string }>(
      `SELECT node_id, status FROM dagapp.dag_node_states WHERE job_id = $1 ORDER BY node_id`,
      [jobId],
    );
    return Object.fromEntries(rows.map((row) => [row.node_id, row.status]));
  }

  async events(jobId: string): Promise<readonly RecordedEvent[]> {
    const { rows } = await this.database.db.query<RecordedEvent>(
      `SELECT seq, event_type, node_id, event_data FROM dagapp.dag_unpacked_events
       WHERE job_id = $1 ORDER BY seq`,
      [jobId],
    );
    return rows;
  }

  /** Call it at the end of any test. */
  expectReplay(jobId: string): Promise<Replayed> {
    return expectReplay(this.database.db, jobId);
  }
}
