import { describe, expect, it } from "vitest";
import { AttributeReader } from "./attributes.ts";
import { nameColumns, nameTable } from "./column-names.ts";
import { guessEncoding } from "./source-format.ts";
import { isUsableDate } from "./usable-date.ts";

describe("column names", () => {
  const names = (...sources: string[]) => nameColumns(sources).map((column) => column.name);

  it("are what PostgreSQL takes unquoted", () => {
    expect(names("NAME", "Größe (m²)", "2020", "a--b", "面积")).toEqual([
      "name",
      "gro_e_m2",
      "_2020",
      "a_b",
      "column",
    ]);
  });

  it("leave the platform's own to the platform", () => {
    expect(names("id", "geom", "FID", "etl_batch_id")).toEqual([
      "source_id",
      "source_geom",
      "source_fid",
      "source_etl_batch_id",
    ]);
  });

  it("are each used once, however long", () => {
    const long = "x".repeat(80);
    const made = names("a", "A", "a_2", long, `${long}y`);
    expect(new Set(made).size).toBe(5);
    expect(made.every((name) => name.length <= 63)).toBe(true);
  });

  it("leave room for a suffix in a table's", () => {
    expect(nameTable("bronze/Flüsse 2024.shp")).toBe("flusse_2024");
    expect(nameTable(`${"n".repeat(90)}.gpkg`)).toHaveLength(54);
    expect(nameTable("地図.geojson")).toBe("layer");
  });
});

describe("attributes", () => {
  const columns = [
    { name: "a", type: "text" },
    { name: "b", type: "date" },
    { name: "c", type: "text" },
  ] as const;

  it("lose dates that are none, and tell the columns that hold nothing", () => {
    const reader = new AttributeReader(columns, false, new Map());
    expect(reader.read("\\N\t2024/02/30\tx")).toBe("\\N\t\\N\tx");
    expect(reader.read("\\N\t2024/02/29\tx")).toBe("\\N\t2024/02/29\tx");
    expect(reader.droppedDates).toBe(1);
    expect(reader.found().map(({ isEmpty }) => isEmpty)).toEqual([true, false, false]);
  });

  it.each([
    ["integer", ["1", "-5", "0", "\\N"]],
    ["bigint", ["1", "9223372036854775807"]],
    ["text", ["1", "9223372036854775808"]],
    ["text", ["18446744073709551615"]],
    ["text", ["007", "12"]],
    ["text", ["12", "-01"]],
    ["double precision", ["1", "2.5", "1e3"]],
    ["text", ["9007199254740993", "2.5"]],
    ["date", ["2024-02-29", "2023/01/01"]],
    ["text", ["2023-02-29"]],
    ["timestamptz", ["2024-02-29T10:00:00Z", "2024-02-29 10:00"]],
    ["time", ["10:00", "23:59:59"]],
    ["text", ["-", "."]],
    ["text", ["NaN", "1"]],
  ])("are %s where they are text only: %j", (type, values) => {
    const reader = new AttributeReader([{ name: "a", type: "text" }], true, new Map());
    for (const value of values) reader.read(value);
    expect(reader.found()[0]?.type).toBe(type);
  });
});

it.each([
  ["2024/01/31", true],
  ["2024-01-31 23:59:59+00", true],
  ["0000/00/00", false],
  ["10000/01/01", false],
  ["1900/02/29", false],
  ["soon", false],
])("%s is a date that can be kept: %s", (text, isUsable) => {
  expect(isUsableDate(text)).toBe(isUsable);
});

it("guesses an encoding only where there is something to guess", () => {
  const table = (language: number, ...bytes: number[]) => {
    const start = new Uint8Array(32);
    start[8] = 32;
    start[29] = language;
    return Uint8Array.from([...start, ...bytes]);
  };
  expect(guessEncoding(table(0, 65, 66))).toBeUndefined();
  expect(guessEncoding(table(0, 0xc3, 0xa9))).toBe("UTF-8");
  expect(guessEncoding(table(0, 0xe9, 65))).toBe("CP1252");
  expect(guessEncoding(table(0x57, 0xe9, 65))).toBeUndefined();
});
