import { describe, expect, it } from "vitest";
import { checkOutput, cleanText } from "./output.ts";

function refusal(value: unknown, limits?: { maxBytes: number; maxDepth: number }): string {
  const checked = limits === undefined ? checkOutput(value) : checkOutput(value, limits);
  if (checked.ok) throw new Error(`not refused: ${checked.json}`);
  expect(checked.error.category).toBe("permanent");
  return `${checked.error.code}: ${checked.error.message}`;
}

const cycle: Record<string, unknown> = { list: [] };
(cycle["list"] as unknown[]).push({ back: cycle });

function nested(levels: number): object {
  let value: object = {};
  for (let level = 1; level < levels; level++) value = { a: value };
  return value;
}

/** One object per level, and yet 2^60 of them in the text. */
function bomb(): object {
  let value: object = {};
  for (let level = 0; level < 60; level++) value = { a: value, b: value };
  return value;
}

describe("checkOutput", () => {
  it("takes a JSON object and says how long its text is", () => {
    const output = { a: [1, -0.5, "é", null, true, { b: {} }], "": "" };
    expect(checkOutput(output)).toEqual({
      ok: true,
      json: JSON.stringify(output),
      bytes: Buffer.byteLength(JSON.stringify(output)),
    });
  });

  it("takes one object in two places, for that is no cycle", () => {
    const shared = { x: 1 };
    expect(checkOutput({ a: shared, b: [shared, shared] }).ok).toBe(true);
  });

  it.each([
    [undefined, "returned undefined"],
    [null, "returned null"],
    ["text", "returned a string"],
    [[1], "returned an array"],
    [{ a: [{ "b/c": undefined }] }, 'undefined at "/a/0/b~1c"'],
    [{ f: () => 1 }, 'a function at "/f"'],
    [{ n: 1n }, 'a bigint at "/n"'],
    [{ s: Symbol("x") }, 'a symbol at "/s"'],
    [{ n: NaN }, 'NaN at "/n"'],
    [{ n: [-Infinity] }, '-Infinity at "/n/0"'],
    [{ t: "a\0b" }, 'the text at "/t" contains a NUL'],
    [{ t: "\ud800x" }, 'the text at "/t"'],
    [{ o: { "a\0": 1 } }, 'a key of the object at "/o"'],
    [{ d: new Date(0) }, 'a Date at "/d"'],
    [{ m: new Map() }, 'a Map at "/m"'],
    [{ o: { toJSON: 1 } }, 'the object at "/o" has a toJSON'],
    [{ a: new Array(2) }, 'undefined at "/a/0"'],
    [cycle, 'the object at "/list/0/back" contains itself'],
    [nested(65), "deeper than 64 levels"],
  ])("refuses %o", (value, text) => {
    expect(refusal(value)).toMatch(/^OUTPUT_INVALID: /);
    expect(refusal(value)).toContain(text);
  });

  it("refuses an object that cannot be read", () => {
    const value = {
      get x(): never {
        throw new Error("boom");
      },
    };
    expect(refusal(value)).toMatch(/^OUTPUT_INVALID: .*boom/);
  });

  it("takes 64 levels", () => {
    expect(checkOutput(nested(64)).ok).toBe(true);
  });

  it("refuses what is too large, counted in bytes, and says what to do", () => {
    const limits = { maxBytes: 100, maxDepth: 64 };
    expect(checkOutput({ t: "x".repeat(92) }, limits)).toMatchObject({ ok: true, bytes: 100 });
    expect(refusal({ t: "x".repeat(93) }, limits)).toMatch(/^OUTPUT_TOO_LARGE: .*return where/);
    expect(refusal({ t: "é".repeat(47) }, limits)).toMatch(/^OUTPUT_TOO_LARGE/);
  });

  it("refuses an object that doubles with each level, instead of writing it out", () => {
    expect(refusal(bomb(), { maxBytes: 100_000, maxDepth: 64 })).toMatch(/^OUTPUT_TOO_LARGE/);
  });
});

it("makes any text storable and leaves good text alone", () => {
  expect(cleanText("a\0b\ud800c\udc00")).toBe("a\ufffdb\ufffdc\ufffd");
  expect(cleanText("good 😀 text")).toBe("good 😀 text");
});
