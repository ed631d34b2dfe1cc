import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestDatabase } from "../../../test/support/database.ts";
import type { TestDatabase } from "../../../test/support/database.ts";
import { startProxy } from "../../../test/support/proxy.ts";
import { waitFor } from "../../../test/support/wait.ts";
import { openDatabase } from "./database.ts";

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
  await test.db.query("CREATE TABLE counter (id int PRIMARY KEY, value int NOT NULL)");
  await test.db.query("INSERT INTO counter VALUES (1, 0), (2, 0)");
});
afterAll(() => test.drop());

describe("a query", () => {
  it("answers int8 as a number, so that sums are sums", async () => {
    const { rows } = await test.db.query("SELECT count(*) AS n, 9007199254740991::int8 AS big");
    expect(rows).toEqual([{ n: 1, big: Number.MAX_SAFE_INTEGER }]);
  });

  it("refuses an int8 that a number cannot hold, and leaves the connection usable", async () => {
    await expect(test.db.query("SELECT 9007199254740993::int8")).rejects.toThrow(/as text/);
    expect((await test.db.query("SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
  });

  it("answers timestamptz as a Date and json as its value", async () => {
    const { rows } = await test.db.query(
      `SELECT '2024-02-29T12:00:00Z'::timestamptz AS at, '{"a": [1, null]}'::jsonb AS value`,
    );
    expect(rows).toEqual([{ at: new Date("2024-02-29T12:00:00Z"), value: { a: [1, null] } }]);
  });

  it("prepares a named statement once per connection", async () => {
    await test.db.transaction(async (tx) => {
      for (const value of [1, 2, 3]) await tx.query("SELECT $1::int", [value], "one-value");
      const { rows } = await tx.query(
        "SELECT name FROM pg_prepared_statements WHERE name <> 'BEGIN'",
      );
      expect(rows).toEqual([{ name: "one-value" }]);
    });
  });

  it("survives the loss of idle connections", async () => {
    const lost: Error[] = [];
    const db = openDatabase({
      url: test.url,
      applicationName: "victim",
      onConnectionLost: (error) => lost.push(error),
    });
    await db.query("SELECT 1");
    await test.db.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'victim'",
    );
    await waitFor(() => lost.length > 0, { what: "the pool to notice" });
    expect((await db.query("SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
    await db.close();
  });
});

describe("a network that goes silent", () => {
  it("costs one time limit, whatever ran and however many connections were open", async () => {
    const proxy = await startProxy(test.url);
    const url = new URL(proxy.url);
    url.searchParams.set("query_timeout", "1500");
    const db = openDatabase({ url: url.href, applicationName: "rmhdag test", max: 4 });
    try {
      await Promise.all(Array.from({ length: 4 }, () => db.query("SELECT pg_sleep(0.2)")));
      await db.copyTransaction((tx) => tx.query("SELECT 1"));
      const from = performance.now();
      const works = [
        db.transaction(async (tx) => {
          await tx.query("SELECT 1");
          proxy.goSilent();
          await tx.query("SELECT 1");
        }),
        db.copyTransaction(async (tx) => {
          await waitFor(() => proxy.connections >= 5, { what: "connections" });
          await tx.query("SELECT pg_sleep(0.3)");
          await tx.query("SELECT 1");
        }),
      ];
      const ends = await Promise.allSettled(works);
      expect(ends.map((end) => end.status === "rejected" && String(end.reason))).toEqual([
        "Error: Query read timeout",
        "Error: Query read timeout",
      ]);
      // The other connections of the pool are silent too, and are not tried one by one.
      expect((await db.query("SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
      expect(performance.now() - from).toBeLessThan(2900);
    } finally {
      await db.close();
      await proxy.close();
    }
  });
});
