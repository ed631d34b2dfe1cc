import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { createTestDatabase } from "../../../../../test/support/database.ts";
import type { TestDatabase } from "../../../../../test/support/database.ts";
import { openHotDatabase } from "../../../postgres/hot-database.ts";
import type { Database } from "../../../postgres/database.ts";
import type { Queryable } from "../../../postgres/queryable.ts";
import { frontOfQueue } from "../sql/fetch.ts";
import { release } from "../sql/settle.ts";
import { createFetchFromMark } from "./fetch-from-mark.ts";

const queue = "dag-worker-tasks";
const options = { leaseMs: 60_000, holder: "worker-1", accepts: undefined };
let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await createTestDatabase({ max: 1 });
  db = openHotDatabase({ url: database.url, applicationName: "test", max: 1 });
});
afterAll(async () => {
  await db.close();
  await database.drop();
});
beforeEach(() => database.db.query("TRUNCATE dagapp.dag_queue_ready, dagapp.dag_queue_leases"));

async function publish(count: number, { from = 0, priority = 0 } = {}): Promise<void> {
  await db.query(
    `INSERT INTO dagapp.dag_queue_ready (queue, priority, message_key, body)
     SELECT $1, $4, n::text, '{}' FROM generate_series($2::int, $3::int) AS n`,
    [queue, from + 1, from + count, priority],
  );
}

const keysOf = ({ messages }: { messages: readonly { message_key: string }[] }) =>
  messages.map(({ message_key }) => Number(message_key));

/** Counts the pages that a statement reads, and undoes what it does. */
async function countPages(text: string, values: readonly unknown[]): Promise<number> {
  let pages = 0;
  const undo = new Error("undo");
  await db
    .transaction(async (tx) => {
      const { rows } = await tx.query<{ "QUERY PLAN": [{ Plan: Record<string, number> }] }>(
        `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`,
        values,
      );
      const plan = rows[0]?.["QUERY PLAN"][0].Plan ?? {};
      pages = (plan["Shared Hit Blocks"] ?? NaN) + (plan["Shared Read Blocks"] ?? NaN);
      throw undo;
    })
    .catch((error: unknown) => {
      if (error !== undo) throw error;
    });
  return pages;
}

it("reads as few pages behind many fetched messages as at the front of the queue", async () => {
  await publish(20_000);
  const statements: { text: string; values: readonly unknown[] }[] = [];
  const watched: Queryable = {
    query: (text, values = [], name) => {
      statements.push({ text, values });
      return db.query(text, values, name);
    },
  };
  const fetch = createFetchFromMark(() => watched);
  const fetched: number[] = [];
  for (let batch = 0; batch < 99; batch++)
    fetched.push(...keysOf(await fetch(queue, 200, options)));
  expect(fetched).toEqual(Array.from({ length: 19_800 }, (_, index) => index + 1));

  // Every now and then one starts at the front.
  const last = statements.findLast(({ values }) => values[5] !== frontOfQueue.priority);
  const front = statements.find(({ values }) => values[5] === frontOfQueue.priority);
  if (last === undefined || front === undefined) throw new Error("no mark was used");
  const atMark = await countPages(last.text, last.values);
  expect(await countPages(front.text, front.values)).toBeGreaterThan(atMark + 50);
  await database.db.query("VACUUM dagapp.dag_queue_ready");
  await database.db.query("VACUUM dagapp.dag_queue_leases");
  const afterVacuum = await countPages(last.text, last.values);
  expect(atMark).toBeLessThan(afterVacuum + 50);
});

it("fetches a message that was returned before the mark", async () => {
  await publish(10);
  const fetch = createFetchFromMark(() => db);
  const [first] = (await fetch(queue, 3, options)).messages;
  if (first === undefined) throw new Error("nothing was fetched");
  await release(db, [first]);
  const fetched: number[] = [];
  for (let batch = 0; batch < 3; batch++) fetched.push(...keysOf(await fetch(queue, 3, options)));
  expect(fetched.sort((a, b) => a - b)).toEqual([1, 4, 5, 6, 7, 8, 9, 10]);
});

it("fetches a returned message while the queue stays long", async () => {
  await publish(100);
  const fetch = createFetchFromMark(() => db);
  const [first] = (await fetch(queue, 10, options)).messages;
  if (first === undefined) throw new Error("nothing was fetched");
  await release(db, [first]);
  for (let from = 100; ; from += 10) {
    await publish(10, { from });
    if (keysOf(await fetch(queue, 10, options)).includes(1)) break;
  }
});

it("fetches more urgent messages first, wherever the mark is", async () => {
  await publish(10);
  const fetch = createFetchFromMark(() => db);
  await fetch(queue, 2, options);
  await publish(2, { from: 100, priority: 5 });
  expect(keysOf(await fetch(queue, 3, options))).toEqual([101, 102, 3]);
  expect(keysOf(await fetch(queue, 3, options))).toEqual([4, 5, 6]);
});

it("keeps the marks of consumers apart", async () => {
  await publish(10);
  await database.db.query(
    `UPDATE dagapp.dag_queue_ready SET headers = '{"handler": "b"}' WHERE message_key IN ('1', '3')`,
  );
  const fetch = createFetchFromMark(() => db);
  const a = { ...options, accepts: ["a"] };
  expect(keysOf(await fetch(queue, 3, a))).toEqual([2, 4, 5]);
  const b = { ...options, holder: "worker-2", accepts: ["b"] };
  expect(keysOf(await fetch(queue, 3, b))).toEqual([1, 3, 6]);
});
