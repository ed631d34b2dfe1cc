import { describe, expect, it } from "vitest";
import { createLineReader, fromLetter, toLetters } from "./link.ts";

describe("the lines of a link", () => {
  it("are told whole, however they arrive", () => {
    const lines: string[] = [];
    const read = createLineReader((line) => lines.push(line));
    expect(read('{"a":1}\n{"b"')).toBe(4);
    expect(read(":2")).toBe(6);
    expect(lines).toEqual(['{"a":1}']);
    expect(read("}\n\n")).toBe(0);
    expect(lines).toEqual(['{"a":1}', '{"b":2}', ""]);
  });

  it("name how each result was settled by a letter", () => {
    const settled = ["ok", "lost", "again"] as const;
    expect(Array.from(toLetters(settled), fromLetter)).toEqual(settled);
  });
});
