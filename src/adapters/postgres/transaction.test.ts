import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { createTestDatabase } from "../../../test/support/database.ts";
import type { TestDatabase } from "../../../test/support/database.ts";
import type { Transaction } from "./database.ts";

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase({ max: 4 });
  await test.db.query("CREATE TABLE counter (id int PRIMARY KEY, value int NOT NULL)");
});
afterAll(() => test.drop());
beforeEach(async () => {
  await test.db.query("TRUNCATE counter");
  await test.db.query("INSERT INTO counter VALUES (1, 0), (2, 0)");
});

const values = async () =>
  (await test.db.query<{ value: number }>("SELECT value FROM counter ORDER BY id")).rows.map(
    ({ value }) => value,
  );
const add = (tx: Transaction, id: number) =>
  tx.query("UPDATE counter SET value = value + 1 WHERE id = $1", [id]);

it("commits what its work did and returns what it returned", async () => {
  expect(await test.db.transaction(async (tx) => (await add(tx, 1)).rowCount)).toBe(1);
  expect(await values()).toEqual([1, 0]);
});

it("undoes everything when its work throws, and passes the error on", async () => {
  const failing = test.db.transaction(async (tx) => {
    await add(tx, 1);
    throw new Error("changed my mind");
  });
  await expect(failing).rejects.toThrow("changed my mind");
  expect(await values()).toEqual([0, 0]);
});

it("does not pretend success when a statement failed and its error was swallowed", async () => {
  const failing = test.db.transaction(async (tx) => {
    await add(tx, 1);
    await tx.query("SELECT 1 / 0").catch(() => undefined);
  });
  await expect(failing).rejects.toThrow(/division by zero/);
  expect(await values()).toEqual([0, 0]);
});

it("runs the victim of a deadlock again", async () => {
  let runs = 0;
  let arrived = 0;
  let open: () => void = () => undefined;
  const bothHoldOne = new Promise<void>((resolve) => (open = resolve));
  const crosswise = (first: number, second: number) =>
    test.db.transaction(async (tx) => {
      runs++;
      await add(tx, first);
      if (++arrived === 2) open();
      await bothHoldOne;
      await add(tx, second);
    });
  await Promise.all([crosswise(1, 2), crosswise(2, 1)]);
  expect(runs).toBe(3);
  expect(await values()).toEqual([2, 2]);
});

it("gives up on serialization failures after the bound", async () => {
  let runs = 0;
  const failing = test.db.transaction(
    async (tx) => {
      runs++;
      await tx.query("SELECT value FROM counter WHERE id = 1");
      await test.db.query("UPDATE counter SET value = value + 1 WHERE id = 1");
      await add(tx, 1);
    },
    { isolation: "repeatable read", maxAttempts: 3 },
  );
  await expect(failing).rejects.toMatchObject({ code: "40001" });
  expect(runs).toBe(3);
});

it("sets isolation, read only and synchronous commit for itself alone", async () => {
  const ask = `SELECT current_setting('transaction_isolation') AS isolation,
    current_setting('transaction_read_only') AS read_only,
    current_setting('synchronous_commit') AS synchronous`;
  const before = (await test.db.query(ask)).rows[0];
  const inside = await test.db.transaction(async (tx) => (await tx.query(ask)).rows[0], {
    isolation: "serializable",
    readOnly: true,
    synchronousCommit: "off",
  });
  expect(inside).toEqual({ isolation: "serializable", read_only: "on", synchronous: "off" });
  expect((await test.db.query(ask)).rows[0]).toEqual(before);
});

it("rejects, and disturbs no other caller, when its connection is lost in the middle", async () => {
  const failing = test.db.transaction(async (tx) => {
    const { rows } = await tx.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
    await test.db.query("SELECT pg_terminate_backend($1)", [rows[0]!.pid]);
    await add(tx, 1);
  });
  await expect(failing).rejects.toThrow();
  expect(await values()).toEqual([0, 0]);
});

it("refuses a query that comes after its end", async () => {
  let kept: Transaction | undefined;
  await test.db.transaction(async (tx) => {
    kept = tx;
  });
  await expect(kept!.query("SELECT 1")).rejects.toThrow(/over/);
});

it("runs again when a statement that was not awaited was the victim", async () => {
  await test.db.query("CREATE SEQUENCE IF NOT EXISTS victims");
  let runs = 0;
  await test.db.transaction(async (tx) => {
    runs++;
    tx.send(
      `DO $$ BEGIN IF nextval('victims') = 1 THEN
         RAISE EXCEPTION 'conflict' USING ERRCODE = '40001'; END IF; END $$`,
    );
    // This query alone would reject with "transaction is aborted", which is not run again.
    await add(tx, 1);
  });
  expect(runs).toBe(2);
  expect(await values()).toEqual([1, 0]);
});

it("carries out nothing when one of its statements cannot be sent", async () => {
  const endless: Record<string, unknown> = {};
  endless["self"] = endless;
  const failing = test.db.transaction(async (tx) => {
    tx.send("UPDATE counter SET value = value + 1 WHERE id = 1");
    tx.send("SELECT $1::jsonb", [endless]);
  });
  await expect(failing).rejects.toThrow(/circular/);
  expect(await values()).toEqual([0, 0]);
});

it("can use a statement again whose first use failed beside others", async () => {
  const run = (divisor: number) =>
    test.db.transaction(async (tx) => {
      tx.send("UPDATE counter SET value = value + 1 WHERE id = $1", [1], "add one");
      tx.send("SELECT 1 / $1::int", [divisor], "divide");
      await tx.query("UPDATE counter SET value = value + 1 WHERE id = $1", [2], "add another");
    });
  await expect(run(0)).rejects.toMatchObject({ code: "22012" });
  await run(1);
  await expect(run(0)).rejects.toMatchObject({ code: "22012" });
  await run(1);
  expect(await values()).toEqual([2, 2]);
});

it("answers each of the queries that are sent together with its own rows", async () => {
  const answers = await test.db.transaction(async (tx) => {
    const ask = (n: number) => tx.query<{ n: number }>("SELECT $1::int AS n", [n]);
    const [one, two] = await Promise.all([ask(1), ask(2)]);
    return [one.rows, two.rows];
  });
  expect(answers).toEqual([[{ n: 1 }], [{ n: 2 }]]);
});
