/**
 * PostgreSQL keeps the plan of a prepared statement that was made when its tables were empty. Here the
 * engine works through wide fan-outs on tables that are empty, filled and never analysed, and analysed.
 * The server counts the rows and index entries that all statements read.
 */
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { temporaryFolders } from "../../../test/support/embedded.ts";
import { TestEngine } from "../../../test/support/engine.ts";
import { waitFor } from "../../../test/support/wait.ts";
import type { EmbeddedPostgres } from "../../adapters/embedded-postgres/start-embedded-postgres.ts";
import { startEmbeddedPostgres } from "../../adapters/embedded-postgres/start-embedded-postgres.ts";
import { openDatabase } from "../../adapters/postgres/database.ts";
import type { Database } from "../../adapters/postgres/database.ts";
import { migrate } from "../../adapters/postgres/migrate.ts";
import type { TaskMessage } from "../../core/messages.ts";

/** The children of each fan-out. */
const widths = { fan: 4000, limited: 2000 };
const children = widths.fan + widths.limited;
/**
 * Each child is read by about three statements; a plan that reads all nodes for each batch reads more.
 * Queues and inbox hold only what is in flight, and a plan may read all of that for each batch.
 */
const mostReads = (name: string) => (/^dag_(queue|task_inbox)/.test(name) ? 15 : 5);
const fan = `nodes:
  split:
    type: fan_out
    source: "{{ inputs.list }}"
    task: { handler: echo, queue: dag-worker-tasks, params: { item: "{{ item }}" } }
    next: join
  join: { type: fan_in, aggregation: first }`;
/** Most of its children wait until others have ended. */
const limited = fan.replace("    next: join", "    max_concurrency: 150\n    next: join");

const folders = temporaryFolders();
afterAll(() => folders.remove());

// The system's server is often older than the one from npm; without one both are the same.
describe.each(["npm", "system"] as const)("a fan-out on the %s PostgreSQL", (prefer) => {
  let server: EmbeddedPostgres;
  let db: Database;
  let engine: TestEngine;
  let workflows: string;

  beforeAll(async () => {
    const dataDirectory = path.join(await folders.make(), "data");
    server = await startEmbeddedPostgres({ dataDirectory, prefer, sync: false });
    await migrate(server.url);
    db = openDatabase({ url: server.url, applicationName: "test" });
    await stopAnalysing(db);
    workflows = await folders.make();
    await writeFile(path.join(workflows, "fan.yaml"), fan);
    await writeFile(path.join(workflows, "limited.yaml"), limited);
  });
  afterAll(async () => {
    await db.close();
    await server.stop();
  });
  afterEach(() => engine.close());

  async function connect(): Promise<void> {
    engine = await TestEngine.create(
      { url: server.url, db, drop: async () => undefined },
      workflows,
    );
  }

  /** A connection adds its counts to the server's when it ends. */
  async function expectFewReads(): Promise<void> {
    const before = await countReads(db);
    await connect();
    await runFanOut(engine, [1, 2]);
    for (const [workflow, length] of Object.entries(widths)) {
      await runFanOut(
        engine,
        Array.from({ length }, (_, index) => index),
        workflow,
      );
    }
    // Few rows are written by statements of their own. One that read the whole table would add a read a child.
    for (let run = 0; run < 20; run++) await runFanOut(engine, [1, 2, 3, 4].slice(run % 4));
    await engine.close();
    const after = await waitFor(
      async () => {
        const now = await countReads(db);
        return (now.get("dag_node_states_pkey") ?? 0) > 0 ? now : undefined;
      },
      { what: "the counts of the engine's connections" },
    );
    const perChild = [...after].map(
      ([name, count]) => [name, (count - (before.get(name) ?? 0)) / children] as const,
    );
    const tooMany = perChild.filter(([name, count]) => count > mostReads(name));
    expect(Object.fromEntries(tooMany)).toEqual({});
    await connect();
  }

  it("reads few rows a child when its plans were made on empty tables", expectFewReads, 60_000);
  it("reads few rows a child on full tables that were never analysed", expectFewReads, 60_000);
  it("reads few rows a child on full tables that were analysed", async () => {
    await db.query("ANALYZE");
    await expectFewReads();
  }, 60_000);
});

async function stopAnalysing(db: Database): Promise<void> {
  const { rows } = await db.query<{ name: string }>(
    "SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname = 'dagapp'",
  );
  for (const { name } of rows) {
    await db.query(`ALTER TABLE ${name} SET (autovacuum_enabled = false)`);
  }
}

async function runFanOut(
  engine: TestEngine,
  list: readonly number[],
  workflow = "fan",
): Promise<void> {
  const subscription = await engine.deps.broker.consume(
    "dag-worker-tasks",
    { maxInFlight: 200 },
    async (delivery) => {
      const { task_id, job_id, node_id } = JSON.parse(delivery.body) as TaskMessage;
      const ended = { status: "completed", output: "{}", error: null } as const;
      await delivery.report({ task_id, job_id, node_id, ...ended, worker_id: "test" });
    },
  );
  const { job_id } = await engine.submit(workflow, { list: [...list] });
  await waitFor(
    async () => {
      await engine.tick();
      return (await engine.job(job_id)).status === "completed";
    },
    { timeoutMs: 50_000, what: `the end of a fan-out of ${list.length}` },
  );
  await subscription.close();
}

/** Rows that were read of each table, entries that were read of each index, and its searches. */
async function countReads(db: Database): Promise<Map<string, number>> {
  const { rows } = await db.query<{ name: string; count: number }>(
    `SELECT relname AS name, coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) AS count
     FROM pg_stat_user_tables WHERE schemaname = 'dagapp'
     UNION ALL SELECT indexrelname, idx_tup_read FROM pg_stat_user_indexes
     WHERE schemaname = 'dagapp'
     UNION ALL SELECT indexrelname || ' searches', idx_scan FROM pg_stat_user_indexes
     WHERE schemaname = 'dagapp'`,
  );
  return new Map(rows.map(({ name, count }) => [name, count]));
}
