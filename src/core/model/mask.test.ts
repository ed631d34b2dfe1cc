import { describe, expect, it } from "vitest";
import type { JsonObject } from "./json.ts";
import { Mask, dots, hideMembers, isSecretParameter } from "./mask.ts";

describe("a mask", () => {
  it("hides a secret in texts, keys and numbers, escaped and encoded too", () => {
    const secret = 'a "b"/c\n';
    const mask = new Mask([secret, 1234]);
    for (const text of [secret, JSON.stringify({ secret }), `?x=${encodeURIComponent(secret)}`]) {
      expect(mask.text(text)).toContain(dots);
      expect(mask.text(text)).not.toContain("b");
    }
    expect(mask.value({ [secret]: [1234, 12345, "1234"], other: null })).toEqual({
      [dots]: [dots, 12345, dots],
      other: null,
    });
  });

  it("leaves values without a secret as they are, the same object", () => {
    const value: JsonObject = { a: [1, { b: "text" }], c: true };
    expect(new Mask(["hidden"]).value(value)).toBe(value);
    expect(new Mask([]).isEmpty).toBe(true);
    expect(new Mask([true, null, ""]).isEmpty).toBe(true);
  });

  it("hides a short secret only as a whole, and the longer of two first", () => {
    expect(new Mask(["ab"]).value(["ab", "cab"])).toEqual([dots, "cab"]);
    expect(new Mask(["pass", "password"]).text("password")).toBe(dots);
  });

  it("hides members by name, and knows a secret parameter by its exact form", () => {
    expect(hideMembers({ a: true, b: 1 }, ["a", "z"])).toEqual({ a: dots, b: 1 });
    expect(isSecretParameter({ secret: true, value: "x" })).toBe(true);
    expect(isSecretParameter({ secret: true, value: "x", more: 1 })).toBe(false);
    expect(isSecretParameter({ secret: "true", value: "x" })).toBe(false);
  });
});
