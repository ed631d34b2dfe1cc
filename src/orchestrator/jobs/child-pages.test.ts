/**
 * Pages of children and searches in leases answer what a plain reading of all rows answers. What they read does not
 * grow with the fan-out, nor with nodes times leases, whatever PostgreSQL believes of the tables.
 */
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { temporaryFolders } from "../../../test/support/embedded.ts";
import { nodeStatus, taskId } from "../../core/model/node.ts";
import { findMissing } from "../../adapters/broker/postgres-broker/sql/find-failed.ts";
import type { EmbeddedPostgres } from "../../adapters/embedded-postgres/start-embedded-postgres.ts";
import { startEmbeddedPostgres } from "../../adapters/embedded-postgres/start-embedded-postgres.ts";
import type { Database } from "../../adapters/postgres/database.ts";
import { openDatabase } from "../../adapters/postgres/database.ts";
import { openHotDatabase } from "../../adapters/postgres/hot-database.ts";
import { migrate } from "../../adapters/postgres/migrate.ts";
import type { Queryable, Transaction } from "../../adapters/postgres/queryable.ts";
import {
  copyChildren,
  readChildOutputs,
  releaseChildren,
} from "../../adapters/postgres/repositories/children.ts";
import {
  findNode,
  listNodes,
  readChildren,
  readStaticNodes,
} from "../../adapters/postgres/queries/nodes.ts";
import { readStageTasks } from "../../adapters/postgres/queries/stage-nodes.ts";

const narrow = { job: "narrow", width: 40, created: 40 };
/** Its last children are not created yet. */
const wide = { job: "wide", width: 8000, created: 7000 };
/** Of both jobs. */
const children = narrow.created + wide.created;
const leased = children / 4 + 2;

const folders = temporaryFolders();
afterAll(() => folders.remove());

// The system's server is often older than the one from npm; without one both are the same.
describe.each(["npm", "system"] as const)("on the %s PostgreSQL", (prefer) => {
  let server: EmbeddedPostgres;
  let db: Database;
  let hot: Database;

  beforeAll(async () => {
    const dataDirectory = path.join(await folders.make(), "data");
    server = await startEmbeddedPostgres({ dataDirectory, prefer, sync: false });
    await migrate(server.url);
    db = openDatabase({ url: server.url, applicationName: "test" });
    hot = openHotDatabase({ url: server.url, applicationName: "test", max: 1 });
    for (const table of tables) {
      await db.query(`ALTER TABLE dagapp.${table} SET (autovacuum_enabled = false)`);
    }
    await db.query(
      `INSERT INTO dagapp.dag_workflow_versions (workflow_hash, workflow_id, version, definition)
       VALUES (repeat('a', 64), 'fan', '1', '{}')`,
    );
    await fill(db);
  }, 60_000);
  afterAll(async () => {
    await hot.close();
    await db.close();
    await server.stop();
  });

  describe.each<[string, () => Promise<unknown>]>([
    ["never analysed", async () => undefined],
    ["analysed", () => db.query("ANALYZE")],
    [
      "filled after they were analysed",
      async () => {
        await db.query(`DELETE FROM dagapp.dag_jobs`);
        await db.query(`TRUNCATE ${tables.map((table) => `dagapp.${table}`).join(", ")} CASCADE`);
        await db.query("VACUUM ANALYZE");
        await fill(db);
      },
    ],
  ])("with tables that were %s", (_, prepare) => {
    beforeAll(() => prepare());

    it("pages of children with any status are those of all rows", async () => {
      for (const { job } of [narrow, wide]) {
        const all = await readAll(db, job);
        for (const status of [undefined, ...nodeStatus.options]) {
          const wanted = all.filter((child) => status === undefined || child.status === status);
          const found = await readPages(async (after) => {
            const page = await readChildren(db, job, { parent: "split", status, after }, 700);
            return [page.nodes, page.next];
          });
          const seen = found.map((row) => [row.fan_out_index, row.status, row.worker_id]);
          expect(seen).toEqual(wanted.map((child) => [child.index, child.status, child.worker]));
          const archived = { parent: "split", status, isArchived: true };
          const inOne = await readChildren(db, job, archived, wide.width);
          expect(inOne).toEqual({ nodes: found, next: null });
        }
      }
    });

    it("tasks of a stage are those of all rows", async () => {
      for (const { job } of [narrow, wide]) {
        const found = await readPages(async (after) => {
          const page = await readStageTasks(db, job, "split", after, 700);
          return [page.tasks, page.next];
        });
        expect(found.map(({ fan_out_index: index, is_running }) => [index, is_running])).toEqual(
          (await readAll(db, job)).map(({ index, status }) => [index, status === "running"]),
        );
      }
    });

    it("a lease tells who runs its node, since when and how far", async () => {
      expect(await findNode(db, wide.job, "split__2")).toMatchObject({
        status: "running",
        worker_id: "worker-2",
        started_at: new Date("2026-01-01T00:00:02.123Z"),
        progress_percent: 33.3,
        progress_message: "second",
      });
      expect(await findNode(db, wide.job, "split__8")).toMatchObject({
        status: "dispatched",
        worker_id: null,
        started_at: null,
        progress_percent: null,
      });
      const [split] = await readStaticNodes(db, wide.job, undefined);
      expect(split).toMatchObject({ node_id: "split", status: "running" });
    });

    it("lists of nodes are those of all rows", async () => {
      const of = async (job: string) =>
        (await readAll(db, job))
          .filter(({ status }) => status === "running")
          .map(({ node_id }) => node_id);
      const found: string[] = [];
      let after: Parameters<typeof listNodes>[3];
      do {
        const page = await listNodes(db, { status: "running", handler: "echo" }, 300, after);
        found.push(...page.nodes.map(({ job_id, node_id }) => `${job_id} ${node_id}`));
        after = page.next ?? undefined;
      } while (after !== undefined);
      const wanted = [...(await of(wide.job)).sort().map((id) => `${wide.job} ${id}`)];
      wanted.push(...(await of(narrow.job)).sort().map((id) => `${narrow.job} ${id}`));
      expect(found).toEqual(wanted);
    });

    it("messages that are in no table are missing", async () => {
      const asked = Array.from({ length: wide.created }, (_, index) => ({
        id: taskId(wide.job, `split__${index}`, 0),
        group: wide.job,
      }));
      const isMissing = (_: unknown, index: number) => index % 4 !== 2 && index % 8 !== 1;
      const wanted = new Set(asked.filter(isMissing).map(({ id }) => id));
      for (const each of [db, hot]) {
        expect(await findMissing(each, asked)).toEqual(wanted);
        const other = asked.slice(0, 10).map(({ id }) => ({ id, group: narrow.job }));
        expect((await findMissing(each, other)).size).toBe(other.length);
      }
    });

    it("outputs, releases and copies find every child", async () => {
      const outputs = await readChildOutputs(hot, wide.job, "split", 990, 1010);
      expect(outputs.map(({ fan_out_index }) => fan_out_index)).toEqual(
        Array.from({ length: 20 }, (_, place) => 990 + place),
      );
      await undone(hot, async (tx) => {
        const release = { job_id: wide.job, fan_out_id: "split" };
        const released = await releaseChildren(tx, [
          { ...release, from: 1, to: 2 },
          { ...release, from: 5, to: 6 },
        ]);
        expect(released.map(({ node_id, task_id }) => [node_id, task_id])).toEqual([
          ["split__1", "wide_split__1_0"],
          ["split__5", "wide_split__5_0"],
        ]);
        await tx.query(`DELETE FROM dagapp.dag_node_states WHERE job_id = 'narrow'`);
        const kept = { queue: "other", timeout_seconds: 7, max_retries: 1 };
        await copyChildren(tx, wide.job, narrow.job, [
          { node_id: "none", ...kept, queue: "none" },
          { node_id: "split", ...kept },
        ]);
        const copied = await tx.query(
          `SELECT queue, timeout_seconds, max_retries, count(*)::int FROM dagapp.dag_node_states
           WHERE job_id = 'narrow' GROUP BY 1, 2, 3`,
        );
        expect(copied.rows).toEqual([{ ...kept, count: wide.created }]);
      });
    });

    it.each<[string, (tx: Transaction, job: string) => Promise<unknown>]>([
      ["a page of children", (tx, job) => readChildren(tx, job, { parent: "split", after: 9 }, 20)],
      [
        "a page of children with a status",
        (tx, job) => readChildren(tx, job, { parent: "split", status: "ready" }, 8),
      ],
      ["a page of tasks of a stage", (tx, job) => readStageTasks(tx, job, "split", 9, 20)],
      ["outputs", (tx, job) => readChildOutputs(tx, job, "split", 10, 30)],
      [
        "releases",
        (tx, job) => releaseChildren(tx, [{ job_id: job, fan_out_id: "split", from: 1, to: 2 }]),
      ],
      ["a node", (tx, job) => findNode(tx, job, "split__2")],
    ])("a wide fan-out costs no more than a narrow one: %s", async (_what, read) => {
      for (const each of [db, hot]) {
        const few = await countReads(each, (tx) => read(tx, narrow.job));
        const many = await countReads(each, (tx) => read(tx, wide.job));
        expect(few.nodes).toBeGreaterThan(0);
        expect(many.nodes).toBeLessThanOrEqual(few.nodes + 3);
        // The leases of the job once, or those of all jobs.
        expect(many.leases).toBeLessThanOrEqual(leased);
      }
    });

    it.each<[string, (tx: Transaction) => Promise<unknown>]>([
      ["children", (tx) => readChildren(tx, wide.job, { parent: "split" }, wide.width)],
      [
        "children that wait",
        (tx) => readChildren(tx, wide.job, { parent: "split", status: "dispatched" }, wide.width),
      ],
      ["tasks of a stage", (tx) => readStageTasks(tx, wide.job, "split", undefined, wide.width)],
      [
        "nodes",
        (tx) => listNodes(tx, { job_id: wide.job, status: "dispatched" }, wide.width, undefined),
      ],
      [
        "missing messages",
        (tx) =>
          findMissing(
            tx,
            Array.from({ length: wide.created }, (_, index) => ({
              id: taskId(wide.job, `split__${index}`, 0),
              group: wide.job,
            })),
          ),
      ],
    ])("leases are not read for each of the %s", async (_what, read) => {
      for (const each of [db, hot]) {
        const { nodes, leases } = await countReads(each, read);
        // Behind the first thousands all are read, so some are read twice.
        expect(nodes).toBeLessThan(2 * children);
        expect(leases).toBeLessThanOrEqual(2 * leased);
      }
    });
  });
});

const tables = ["dag_node_states", "dag_queue_leases", "dag_queue_ready", "dag_queue_dead"];

/** Every fourth child is leased, every eighth waits in the queue; the others have each other status. */
async function fill(db: Database): Promise<void> {
  for (const [place, { job, width, created }] of [narrow, wide].entries()) {
    await db.query(
      `INSERT INTO dagapp.dag_jobs (job_id, workflow_id, workflow_hash, workflow_version, status,
         started_at, nodes_total, nodes_unsettled, created_at)
       VALUES ($1, 'fan', repeat('a', 64), '1', 'running', now(), 1, 1, now() + $2 * interval '1 minute')`,
      [job, place],
    );
    const counters = { total: width, next_index: created, completed: 0, failed: 0, created };
    await db.query(
      `INSERT INTO dagapp.dag_node_states (job_id, node_id, node_type, status, fan_out)
       VALUES ($1, 'split', 'fan_out', 'running', $2)`,
      [job, JSON.stringify(counters)],
    );
    // In another order than that of their indexes.
    await db.query(
      `INSERT INTO dagapp.dag_node_states (job_id, node_id, node_type, status, parent_node_id,
         fan_out_index, task_id, handler, queue, input_params, completed_at, error)
       SELECT $1, 'split__' || index, 'task', status::dagapp.node_status, 'split', index,
         $1 || '_split__' || index || '_0', 'echo', 'tasks', '{}',
         CASE WHEN status IN ('completed', 'failed') THEN now() END,
         CASE WHEN status = 'failed' THEN '{}'::jsonb END
       FROM generate_series(0, $2 - 1) AS index, (SELECT ARRAY['dispatched', 'ready', 'dispatched',
         'completed', 'dispatched', 'ready', 'dispatched', 'failed']) AS s(list),
         LATERAL (SELECT list[index % 8 + 1]) AS c(status)
       ORDER BY index * 7919 % 10007`,
      [job, created],
    );
    await db.query(
      `INSERT INTO dagapp.dag_queue_leases (message_id, queue, priority, deliveries, released,
         message_key, group_key, body, enqueued_at, holder, leased_at, until, progress_percent,
         progress_message)
       SELECT $3 + n.fan_out_index, 'tasks', 0, 1, 0, n.task_id, n.job_id, '{}', now(),
         'worker-' || n.fan_out_index,
         '2026-01-01 00:00:00.123Z'::timestamptz + n.fan_out_index * interval '1 s', now(), 33.3,
         'second'
       FROM dagapp.dag_node_states n
       WHERE job_id = $1 AND fan_out_index % 4 = 2 AND fan_out_index < $2`,
      [job, created, place * 1_000_000],
    );
    // A message that was sent twice: the later lease counts.
    await db.query(
      `INSERT INTO dagapp.dag_queue_leases (message_id, queue, priority, deliveries, released,
         message_key, group_key, body, enqueued_at, holder, leased_at, until)
       SELECT $2, 'tasks', 0, 1, 0, $1 || '_split__6_0', $1, '{}', now(), 'before',
         '2025-01-01', now()
       FROM (SELECT FROM dagapp.dag_queue_leases LIMIT 1) AS any_lease`,
      [job, -1 - place],
    );
    await db.query(
      `INSERT INTO dagapp.dag_queue_ready (queue, message_key, group_key, body)
       SELECT 'tasks', task_id, job_id, '{}' FROM dagapp.dag_node_states
       WHERE job_id = $1 AND fan_out_index % 8 = 1`,
      [job],
    );
  }
}

interface Child {
  readonly node_id: string;
  readonly index: number;
  readonly status: string;
  readonly worker: string | null;
}

/** All children of a job by index, with their leases, without any SQL but two scans. */
async function readAll(db: Queryable, job: string): Promise<readonly Child[]> {
  const { rows } = await db.query<Omit<Child, "worker"> & { job_id: string; task_id: string }>(
    `SELECT job_id, node_id, fan_out_index AS index, status, task_id FROM dagapp.dag_node_states
     WHERE parent_node_id = 'split'`,
  );
  const { rows: leases } = await db.query<{ task_id: string; holder: string }>(
    `SELECT message_key AS task_id, holder FROM dagapp.dag_queue_leases ORDER BY leased_at`,
  );
  const holders = new Map(leases.map(({ task_id, holder }) => [task_id, holder]));
  return rows
    .filter(({ job_id }) => job_id === job)
    .map(({ node_id, index, status, task_id }) => {
      const worker = (status === "dispatched" ? holders.get(task_id) : undefined) ?? null;
      return { node_id, index, status: worker === null ? status : "running", worker };
    })
    .sort((a, b) => a.index - b.index);
}

async function readPages<T>(
  read: (after: number | undefined) => Promise<readonly [readonly T[], number | null]>,
): Promise<T[]> {
  const found: T[] = [];
  let after: number | undefined;
  do {
    const [rows, next] = await read(after);
    found.push(...rows);
    after = next ?? undefined;
  } while (after !== undefined);
  return found;
}

interface Reads {
  readonly nodes: number;
  readonly leases: number;
}

/** How many rows of nodes and of leases a function reads, as the server counts them. Undoes what it does. */
async function countReads(
  db: Database,
  run: (tx: Transaction) => Promise<unknown>,
): Promise<Reads> {
  let counts: Reads = { nodes: NaN, leases: NaN };
  await undone(db, async (tx) => {
    // A session counts on through several transactions.
    const before = await readCounts(tx);
    await run(tx);
    const after = await readCounts(tx);
    counts = { nodes: after.nodes - before.nodes, leases: after.leases - before.leases };
  });
  return counts;
}

async function readCounts(tx: Transaction): Promise<Reads> {
  const { rows } = await tx.query<{ name: string; count: number }>(
    `SELECT relname AS name, coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) AS count
     FROM pg_stat_xact_user_tables WHERE relname IN ('dag_node_states', 'dag_queue_leases')`,
  );
  const of = new Map(rows.map(({ name, count }) => [name, count]));
  return { nodes: of.get("dag_node_states") ?? 0, leases: of.get("dag_queue_leases") ?? 0 };
}

async function undone(db: Database, run: (tx: Transaction) => Promise<void>): Promise<void> {
  const undo = new Error("undo");
  await db
    .transaction(async (tx) => {
      await run(tx);
      throw undo;
    })
    .catch((error: unknown) => {
      if (error !== undo) throw error;
    });
}
