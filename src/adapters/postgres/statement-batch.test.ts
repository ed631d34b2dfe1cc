import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TestDatabase } from "../../../test/support/database.ts";
import { createTestDatabase } from "../../../test/support/database.ts";

/**
 * `StatementBatch` uses members of the driver that its types do not declare. An upgrade of the driver
 * that changes one of them fails here first, by name.
 */
describe("the driver has the private members that StatementBatch uses:", () => {
  let database: TestDatabase;
  let client: pg.Client;
  beforeAll(async () => {
    database = await createTestDatabase();
    client = new pg.Client({ connectionString: database.url });
    await client.connect();
  });
  afterAll(async () => {
    await client.end();
    await database.drop();
  });

  const connection = () =>
    (client as unknown as { connection: Record<string, unknown> }).connection;

  it.each(["parse", "bind", "execute", "describe", "close", "sync", "sendCopyFail"])(
    "connection.%s is a function",
    (name) => {
      expect(connection()[name]).toBeTypeOf("function");
    },
  );

  it.each(["parsedStatements", "submittedNamedStatements"])(
    "connection.%s is an object by statement name",
    (name) => {
      expect(connection()[name]).toBeTypeOf("object");
    },
  );

  it("connection.stream can be corked", () => {
    const { stream } = connection() as { stream: Record<string, unknown> };
    expect(stream["cork"]).toBeTypeOf("function");
    expect(stream["uncork"]).toBeTypeOf("function");
  });

  it.each([
    "submit",
    "handleRowDescription",
    "handleDataRow",
    "handleCommandComplete",
    "handleError",
    "handleReadyForQuery",
  ])("Query.%s is a function", (name) => {
    const query = new pg.Query("SELECT 1") as unknown as Record<string, unknown>;
    expect(query[name]).toBeTypeOf("function");
  });

  it("Query has text, name, values, queryMode, callback and _result._types to set", () => {
    const Query = pg.Query as unknown as new (config: object) => Record<string, unknown>;
    const query = new Query({ text: "SELECT $1", name: "n", values: [1], queryMode: "extended" });
    expect(query).toMatchObject({
      text: "SELECT $1",
      name: "n",
      values: [1],
      queryMode: "extended",
    });
    expect("callback" in query).toBe(true);
    expect("_types" in (query["_result"] as object)).toBe(true);
  });

  it("the client submits an object with these handlers, and calls its callback", async () => {
    const calls: string[] = [];
    await new Promise<void>((resolve) => {
      const submittable = {
        callback: () => {
          calls.push("callback");
          resolve();
        },
        submit: (given: { sync(): void }) => {
          calls.push("submit");
          given.sync();
          return null;
        },
        handleReadyForQuery: () => {
          calls.push("handleReadyForQuery");
          submittable.callback();
        },
        handleError: () => undefined,
      };
      client.query(submittable as unknown as pg.Submittable);
    });
    expect(calls).toEqual(["submit", "handleReadyForQuery", "callback"]);
  });
});
