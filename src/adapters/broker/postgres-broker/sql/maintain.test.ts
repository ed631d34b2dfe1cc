import { afterAll, beforeAll, expect, it } from "vitest";
import { createTestDatabase } from "../../../../../test/support/database.ts";
import type { TestDatabase } from "../../../../../test/support/database.ts";
import { waitFor } from "../../../../../test/support/wait.ts";
import { maintainQueues } from "./maintain.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase({ max: 1 });
});
afterAll(() => database.drop());

it("purges old keys, and vacuums only tables with many dead rows", async () => {
  const { db } = database;
  expect(await maintainQueues(db)).toEqual({ vacuumed: [] });
  await db.query(
    `INSERT INTO dagapp.dag_queue_seen (queue, message_key, until)
     VALUES ('q', 'old', now() - interval '1 s'), ('q', 'new', now() + interval '1 h')`,
  );
  await db.query(
    `INSERT INTO dagapp.dag_queue_ready (queue, message_key, body)
     SELECT 'q', n::text, '' FROM generate_series(1, 3000) AS n`,
  );
  await db.query("DELETE FROM dagapp.dag_queue_ready");
  const { vacuumed } = await waitFor(
    async () => {
      await db.query("SELECT pg_stat_force_next_flush()");
      const done = await maintainQueues(db);
      return done.vacuumed.length > 0 && done;
    },
    { what: "a vacuum" },
  );
  expect(vacuumed).toEqual(["dag_queue_ready"]);
  const { rows } = await db.query("SELECT message_key FROM dagapp.dag_queue_seen");
  expect(rows).toEqual([{ message_key: "new" }]);
});
