import { writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ApiTest } from "../../../test/support/api.ts";
import { openApiTest } from "../../../test/support/api.ts";
import { makeWorkflowFolder } from "../../../test/support/domain.ts";
import { openDatabase } from "../../adapters/postgres/database.ts";
import { lockClass } from "../../adapters/postgres/repositories/retention.ts";
import { systemClock } from "../../adapters/runtime/clock.ts";
import type { Storage } from "../../adapters/storage/storage.ts";
import { isImplicit } from "../../core/dag/implicit-nodes.ts";
import type { RetentionClass, RetentionSettings } from "../../core/retention/classes.ts";
import type { RetentionDeps } from "./remove-old.ts";
import { removeBatch, removeOld } from "./remove-old.ts";

const wide = `
workflow_id: wide
version: "1.0"
inputs: { secret: { default: "hush-hush", secret: true } }
nodes:
  split: { type: fan_out, source: [1, 2, 3], task: { handler: echo, params: { n: "{{ item }}" } }, next: join }
  join: { type: fan_in, aggregation: collect, next: last }
  last: { handler: echo, params: { told: "{{ inputs.secret }}" } }
outputs: { all: "{{ nodes.join.output }}", big: "{{ nodes.last.output }}" }
`;

let test: ApiTest;
let folder: Awaited<ReturnType<typeof makeWorkflowFolder>>;
beforeAll(async () => {
  folder = await makeWorkflowFolder();
  await writeFile(path.join(folder.folder, "wide.yaml"), wide);
  test = await openApiTest(folder.folder);
  await test.storage.put("bronze/ddh/birds.tif", new Uint8Array([1, 2, 3]));
});
afterAll(async () => {
  await test.close();
  await folder.remove();
});

const settings = (archive: boolean): RetentionSettings => ({
  archive,
  days: {
    logs: 10,
    events: 20,
    results: 20,
    jobs: 30,
    callbacks: 30,
    requests: 30,
    dead_letters: 30,
  },
});

const deps = (archive: boolean, storage: Storage = test.storage): RetentionDeps => ({
  db: test.database.db,
  storage,
  clock: systemClock,
  settings: settings(archive),
});

const run = async (archive: boolean, classes?: readonly RetentionClass[]) =>
  Object.fromEntries(
    (
      await removeOld(deps(archive), { again: true, ...(classes === undefined ? {} : { classes }) })
    ).map(({ class: name, removed }) => [name, removed]),
  );

async function work(jobId: string): Promise<void> {
  for (;;) {
    const tasks = await test.engine.take(jobId);
    await test.engine.completeAll(
      tasks.map((message) => ({
        message,
        // Large enough for storage.
        output: message.node_id === "last" ? { text: "x".repeat(400_000) } : { n: 1 },
      })),
    );
    await test.engine.tick();
    if (tasks.length === 0) return;
  }
}

/** As if everything of the job had happened so many days earlier. */
async function age(jobId: string, days: number): Promise<void> {
  await test.database.db.query(
    `UPDATE dagapp.dag_jobs SET created_at = created_at - make_interval(days => $2),
       started_at = started_at - make_interval(days => $2),
       completed_at = completed_at - make_interval(days => $2) WHERE job_id = $1`,
    [jobId, days],
  );
}

async function finished(days: number): Promise<string> {
  const { job_id } = await test.engine.submit("wide");
  await work(job_id);
  await test.database.db.query(
    `INSERT INTO dagapp.dag_task_logs (job_id, node_id, task_id, level, message)
     VALUES ($1, 'last', $1 || '_last_0', 'info', 'hello')`,
    [job_id],
  );
  await age(job_id, days);
  return job_id;
}

/** The number of rows of a job in each table that has any. */
async function rowsOf(jobId: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const table of [
    "dag_jobs",
    "dag_node_states",
    "dag_job_events",
    "dag_task_results",
    "dag_task_logs",
  ]) {
    const { rows } = await test.database.db.query<{ count: number }>(
      `SELECT count(*) AS count FROM dagapp.${table} WHERE job_id = $1`,
      [jobId],
    );
    if (rows[0] !== undefined && rows[0].count > 0) counts[table] = rows[0].count;
  }
  return counts;
}

const whole = {
  dag_jobs: 1,
  dag_node_states: 6,
  dag_task_results: 4,
  dag_task_logs: 1,
  dag_job_events: expect.any(Number) as number,
};

const planned = async () => {
  const { classes } = await test.operator.getRetention();
  return Object.fromEntries(classes.map((each) => [each.class, each]));
};

describe("without an archive", () => {
  it("removes what is old by class, says before what it will be, and keeps what is needed", async () => {
    const old = await finished(40);
    const young = await finished(5);
    const origin = await finished(40);
    const rerun = await test.operator.rerunJob({
      params: { job_id: origin },
      body: { from_node: "last" },
    });
    await work(rerun.job_id);
    const { job_id: running } = await test.engine.submit("wide");
    await age(running, 40);
    const wrote = await finished(40);
    await test.database.db.query(
      "INSERT INTO dagapp.dag_blob_assets (path, job_id) VALUES ('silver/kept.tif', $1)",
      [wrote],
    );
    const told = await finished(40);
    await test.make.insert("callback_deliveries", {
      event_id: "open",
      job_id: told,
      event_type: "job.completed",
      url: "https://hooks.example.org/x",
      host: "hooks.example.org",
      body: "{}",
    });
    const asset = await test.operator.submitAsset({
      body: {
        platform_id: "ddh",
        platform_refs: { dataset_id: "d", resource_id: "r" },
        version_label: "V1",
        workflow_id: "etl_test",
        inputs: { blob_path: "ddh/birds.tif" },
        submitted_by: "partner",
      },
    });
    const { rows } = await test.database.db.query<{ job_id: string }>(
      "SELECT job_id FROM dagapp.requests WHERE request_id = $1",
      [asset.request_id],
    );
    const governed = rows[0]!.job_id;
    await work(governed);
    await age(governed, 40);

    const server = await test.another({ retention: deps(false) });
    const plan = await server.server.inject({
      method: "GET",
      url: "/api/v1/retention",
      headers: { authorization: "Bearer reader-token" },
    });
    await server.close();
    const classes = plan.json<{ classes: { class: string; jobs: number; rows: number }[] }>()
      .classes;
    const of = (name: string) => classes.find((each) => each.class === name);
    expect(of("jobs")).toMatchObject({ jobs: 1, rows: 7, days: 30 });
    expect(of("logs")).toMatchObject({ jobs: 4, rows: 4 });
    // The events of a job that another runs again are kept with those of the other.
    expect(of("events")).toMatchObject({ jobs: 4 });
    expect(of("results")).toMatchObject({ jobs: 5, rows: 17 });

    expect((await test.storage.list(`results/${old}/`)).items).not.toEqual([]);
    const removed = await run(false);
    expect(removed).toMatchObject({ logs: 4, results: 17, jobs: 7, callbacks: 0 });
    expect(removed["events"]).toBe(of("events")?.rows);

    expect(await rowsOf(old)).toEqual({});
    expect((await test.storage.list(`results/${old}/`)).items).toEqual([]);
    await expect(test.operator.getJob({ params: { job_id: old } })).rejects.toMatchObject({
      code: "JOB_NOT_FOUND",
    });
    expect(await rowsOf(young)).toEqual(whole);
    for (const kept of [wrote, told]) {
      expect(await rowsOf(kept)).toEqual({ dag_jobs: 1, dag_node_states: 6 });
    }
    expect(await rowsOf(governed)).toMatchObject({ dag_jobs: 1 });
    expect(await rowsOf(running)).toMatchObject({ dag_jobs: 1, dag_node_states: 6 });
    // What has events replays; the rerun from the events of its origin.
    for (const id of [young, origin, rerun.job_id, running]) await test.engine.expectReplay(id);
    await work(running);
    expect((await test.engine.job(running)).status).toBe("completed");
  });

  it("removes callbacks, requests of deleted versions and handled dead letters", async () => {
    const { db } = test.database;
    await db.query(
      `UPDATE dagapp.callback_deliveries SET state = 'delivered', created_at = now() - interval '50 d',
         delivered_at = now() - interval '50 d' WHERE event_id = 'open'`,
    );
    await test.make.insert("callback_attempts", { event_id: "open", attempt: 1, duration_ms: 1 });
    await db.query(
      `INSERT INTO dagapp.dag_queue_dead (message_id, queue, priority, deliveries, released,
         message_key, body, enqueued_at, reason, died_at, handled)
       SELECT n, 'q', 0, 1, 0, 'k' || n, '{}', now(), 'x', now() - interval '50 d', n = 1
       FROM generate_series(1, 2) n`,
    );
    expect(await run(false, ["requests"])).toEqual({ requests: 0 });
    await db.query(
      `UPDATE dagapp.asset_versions SET deleted_at = now() - interval '40 d', deleted_by = 'ann'`,
    );
    await db.query(
      `UPDATE dagapp.requests SET submitted_at = submitted_at - interval '40 d',
         completed_at = completed_at - interval '40 d'`,
    );
    expect(await run(false, ["callbacks", "requests", "dead_letters"])).toEqual({
      callbacks: 1,
      requests: 1,
      dead_letters: 1,
    });
    const { rows } = await db.query("SELECT message_id FROM dagapp.dag_queue_dead");
    expect(rows).toEqual([{ message_id: 2 }]);
  });
});

describe("with an archive", () => {
  it("answers about a job as before", async () => {
    const job_id = await finished(25);
    const params = { job_id };
    const ask = async () => {
      const { job, ...rest } = {
        job: await test.operator.getJob({ params }),
        events: await test.operator.listJobEvents({ params, query: {} }),
        logs: await test.operator.listJobLogs({ params, query: {} }),
        progress: await test.operator.getJobProgress({ params }),
        result: await test.operator.getJobResult({ params }),
        children: await test.operator.listJobNodes({ params, query: { parent: "split" } }),
        child: await test.operator.getNode({ params: { job_id, node_id: "split__1" } }),
        last: await test.operator.getNode({ params: { job_id, node_id: "last" } }),
        output: await test.operator.getNodeOutput({ params: { job_id, node_id: "last" } }),
        given: await test.operator.getNodeParams({ params: { job_id, node_id: "last" } }),
      };
      const { archived_at, ...shown } = job;
      return { rest, shown, archived_at };
    };
    const before = await ask();
    expect(before.archived_at).toBeUndefined();
    expect(before.rest.last.attempts).toHaveLength(1);
    expect(JSON.stringify(before)).not.toContain("hush-hush");

    // First its history, then the job itself.
    const [first] = await removeOld(deps(true), { again: true, classes: ["logs"] });
    expect(first).toMatchObject({ removed: 1, archived: 1 });
    await run(true, ["events", "results"]);
    expect(await rowsOf(job_id)).toEqual({ dag_jobs: 1, dag_node_states: 6 });
    expect(await ask()).toEqual(before);
    await age(job_id, 20);
    await run(true, ["jobs"]);
    expect(await rowsOf(job_id)).toEqual({});
    const after = await ask();
    expect({ ...after, archived_at: undefined }).toEqual({
      ...before,
      // Updated by the test, which made the job older, and with it its implicit nodes.
      rest: { ...before.rest, progress: after.rest.progress },
      shown: {
        ...before.shown,
        created_at: after.shown.created_at,
        started_at: after.shown.started_at,
        completed_at: after.shown.completed_at,
        nodes: before.shown.nodes.map((node, at) =>
          isImplicit(node.node_id) ? after.shown.nodes[at] : node,
        ),
      },
    });
    expect(after.rest.progress).toEqual(before.rest.progress);
    expect(after.archived_at).toEqual(expect.any(String));
    const messages = [];
    for await (const message of test.operator.streamJob({ params, query: {} })) {
      messages.push(message.type);
    }
    expect(messages).toEqual(["snapshot", "end"]);
    expect((await planned())["jobs"]?.archived_rows).toBeGreaterThanOrEqual(7);
  });

  it("removes nothing that could not be written", async () => {
    const job_id = await finished(45);
    const full: Storage = {
      ...test.storage,
      put: () => Promise.reject(new Error("no space left")),
    };
    await expect(removeBatch(deps(true, full), "jobs", true)).rejects.toThrow("no space left");
    expect(await rowsOf(job_id)).toEqual(whole);
  });
});

it("lets one orchestrator work at a time, once a day", async () => {
  const other = openDatabase({ url: test.database.url, applicationName: "other", max: 1 });
  await other.transaction(async (tx) => {
    await lockClass(tx, "logs");
    expect(await removeBatch(deps(false), "logs", true)).toMatchObject({
      isBusy: true,
      more: true,
    });
  });
  await other.close();
  const job_id = await finished(15);
  expect(await removeBatch(deps(false), "logs", false)).toMatchObject({ removed: 0, more: false });
  expect(await run(false, ["logs"])).toMatchObject({ logs: expect.any(Number) as number });
  expect((await rowsOf(job_id))["dag_task_logs"]).toBeUndefined();
});

it("says how large tables are, and what was removed", async () => {
  const text = await test.operator.getPrometheus();
  expect(text).toMatch(/rmhdag_table_bytes\{table="dag_node_states"\} \d{4,}/);
  expect(text).toMatch(/rmhdag_retention_removed_rows\{class="jobs"\} [1-9]/);
});
