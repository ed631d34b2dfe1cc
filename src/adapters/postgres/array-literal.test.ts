import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TestDatabase } from "../../../test/support/database.ts";
import { createTestDatabase } from "../../../test/support/database.ts";
import { arrayLiteral } from "./array-literal.ts";
import { textArray } from "./text-array.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

describe("a list", () => {
  it.each([
    [[]],
    [["a", "job_1", "2026-11-16T01:02:03.000Z", "x-y:z+1"]],
    [["", " ", "NULL", "null", null, "nullable", undefined]],
    [['say "yes"', "back\\slash", "{a,b}", "a,b", "tab\tnew\nline", "ünïcödé 🌍", "'; --"]],
    [[JSON.stringify({ text: 'a "b" \\ c', list: [1, null, { deep: true }] })]],
    [["a", "a", null, null, undefined, "NULL", "NULL", 'x"y', 'x"y', "", "", "a"]],
    [["\u007f", "\u0001 and \u2028", "\\", '\\"', "\\n", "~ "]],
  ])("arrives as it was sent: %j", async (list: readonly (string | null | undefined)[]) => {
    const sent = list.map((element) => element ?? null);
    const { rows } = await database.db.query<{ list: (string | null)[]; binary: unknown }>(
      "SELECT $1::text[] AS list, $2::text[] AS binary",
      [list, textArray(sent)],
    );
    expect(rows[0]).toEqual({ list: sent, binary: sent });
  });

  it("of numbers and booleans arrives too", async () => {
    const numbers = [0, -1, 1.5, 1e21, Number.MAX_SAFE_INTEGER];
    const { rows } = await database.db.query<{ numbers: number[]; truths: boolean[] }>(
      "SELECT $1::float8[] AS numbers, $2::boolean[] AS truths",
      [numbers, [true, false]],
    );
    expect(rows[0]).toEqual({ numbers, truths: [true, false] });
  });

  it("with anything else in it is left to the driver", async () => {
    const at = new Date("2026-11-16T00:00:00Z");
    expect(arrayLiteral([at])).toBeUndefined();
    const { rows } = await database.db.query<{ list: Date[] }>("SELECT $1::timestamptz[] AS list", [
      [at],
    ]);
    expect(rows[0]?.list).toEqual([at]);
  });
});
