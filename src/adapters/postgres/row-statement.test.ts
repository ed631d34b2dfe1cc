import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TestDatabase } from "../../../test/support/database.ts";
import { createTestDatabase } from "../../../test/support/database.ts";
import { rowStatement } from "./row-statement.ts";

interface Sample {
  readonly key: string;
  readonly count: number | null;
  readonly data: string | null;
  readonly at: string | null;
}

const select = rowStatement<Sample>(
  "select_samples",
  {
    key: ["text", (row) => row.key],
    count: ["int", (row) => row.count],
    data: ["json", (row) => row.data],
    at: ["timestamptz", (row) => row.at],
  },
  (rows, other) =>
    `SELECT key || ${other(0)} AS key, count * ${other(1)}::int AS count, data, (at AT TIME ZONE 'UTC')::text AS at
     FROM ${rows("t")}`,
);

describe("a statement over rows", () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());

  it.each([0, 1, 2, 4, 5, 40])(
    "gives %d rows in their order, with every value as it was",
    async (n) => {
      const samples = Array.from({ length: n }, (_, index): Sample => {
        const text = ["null", 'a "quoted" text', "\\N, {1}", "zwölf\n", ""][index % 5] ?? "";
        return {
          key: text,
          count: index % 3 === 0 ? null : index,
          data: index % 2 === 0 ? JSON.stringify({ text }) : null,
          at: index % 4 === 0 ? null : "2026-01-02 03:04:05Z",
        };
      });
      const { text, values, name } = select(samples, ["!", 10]);
      const { rows } = await database.db.query(text, values, name);
      expect(rows).toEqual(
        samples.map(({ key, count, data, at }) => ({
          key: `${key}!`,
          count: count === null ? null : count * 10,
          data,
          at: at?.slice(0, -1) ?? null,
        })),
      );
    },
  );

  it("is one statement for any number of many rows", () => {
    const row = { key: "a", count: 1, data: null, at: null };
    const texts = [5, 6, 1000].map((length) => select(Array.from({ length }, () => row)).text);
    expect(new Set(texts).size).toBe(1);
  });
});
