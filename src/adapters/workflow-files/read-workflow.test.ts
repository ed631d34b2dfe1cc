import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readWorkflow } from "./read-workflow.ts";

/** `line:column CODE message` of the reader's own findings. */
function refusals(text: string): string[] {
  const { findings, locate } = readWorkflow(text);
  return findings.map((finding) => {
    const { line, column } = locate(finding);
    return `${line}:${column} ${finding.code} ${finding.message}`;
  });
}

describe("reading", () => {
  it("follows YAML 1.2: on, yes and no are text", () => {
    const { tree, findings } = readWorkflow("on: yes\nno: off\nsize: 0o14\nempty:\nok: true\n");
    expect(findings).toEqual([]);
    expect(tree).toEqual({ on: "yes", no: "off", size: 12, empty: null, ok: true });
  });

  it("repeats what an anchor stands for", () => {
    const { tree, findings } = readWorkflow("a: &retry {max_attempts: 2}\nb: *retry\n");
    expect(findings).toEqual([]);
    expect(tree).toEqual({ a: { max_attempts: 2 }, b: { max_attempts: 2 } });
  });

  it("keeps __proto__ as a key for the compiler to refuse", () => {
    const { tree } = readWorkflow("__proto__: {polluted: true}\n");
    expect(Object.keys(tree as object)).toEqual(["__proto__"]);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  it.each([
    ["a second document", "a: 1\n---\nb: 2\n", "2:1 YAML_UNSUPPORTED a file holds one workflow"],
    ["a merge key", "a: &a {x: 1}\nb:\n  <<: *a\n", "3:3 YAML_UNSUPPORTED merge keys"],
    ["a number as a key", "a: 1\n2: b\n", '2:1 YAML_UNSUPPORTED a key must be text: write "2"'],
    ["a list as a key", "? [a]\n: b\n", "1:3 YAML_UNSUPPORTED a key must be text"],
    ["binary data", "a: !!binary aGVsbG8=\n", "1:13 YAML_UNSUPPORTED the tag"],
    ["an older YAML", "%YAML 1.1\n---\na: on\n", "1:1 YAML_UNSUPPORTED YAML 1.1"],
    ["a tab as indentation", "a:\n\tb: 1\n", "2:1 YAML_SYNTAX"],
    ["an alias of nothing", "a: *b\n", "1:4 YAML_SYNTAX"],
    ["an alias of itself", "a: &a [*a]\n", "1:8 YAML_UNSUPPORTED *a stands inside"],
    ["a number that cannot be exact", "a: 12345678901234567890\n", "1:4 WRONG_VALUE"],
    ["garbage", "\u0000\u0001{]\u0007", "1:1 YAML_SYNTAX"],
  ])("refuses %s", (_, text, expected) => {
    expect(refusals(text)[0]?.slice(0, expected.length)).toBe(expected);
  });

  it("finds both of two syntax errors and no more than twenty", () => {
    expect(refusals("a: [1\nb: 'x\n").length).toBeGreaterThan(0);
    expect(refusals("a: ]\n".repeat(500)).length).toBeLessThanOrEqual(20);
  });
});

describe("a hostile file", () => {
  const bombs: [string, string, string][] = [
    ["ten megabytes", "a: b\n".repeat(2_000_000), "FILE_TOO_LARGE"],
    ["brackets", "[".repeat(500_000), "TOO_DEEP"],
    ["closed brackets", `a: ${"[".repeat(200_000)}${"]".repeat(200_000)}`, "TOO_DEEP"],
    ["nested mappings", `a: ${"{a: ".repeat(100_000)}`, "TOO_DEEP"],
    ["dashes", "- ".repeat(200_000), "TOO_DEEP"],
    [
      "a billion laughs",
      [
        "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]",
        ...Array.from({ length: 12 }, (_, level) => {
          const alias = `*a${level}`;
          return `a${level + 1}: &a${level + 1} [${Array(10).fill(alias).join(", ")}]`;
        }),
      ].join("\n"),
      "YAML_ALIAS_LIMIT",
    ],
  ];
  it.each(bombs)("of %s is refused soon", { timeout: 20_000 }, (_, text, code) => {
    expect(readWorkflow(text).findings.map((finding) => finding.code)).toEqual([code]);
  });

  it("with 100,000 keys in one mapping is read", { timeout: 20_000 }, () => {
    const text = Array.from({ length: 100_000 }, (_, index) => `k${index}:`).join("\n");
    const { tree, findings } = readWorkflow(text);
    expect(findings).toEqual([]);
    expect(Object.keys(tree as object).length).toBe(100_000);
  });

  it("of any text gets an answer whose positions lie in the text", () => {
    const yamlish = fc
      .array(
        fc.constantFrom(
          "a",
          ": ",
          "- ",
          "[",
          "]",
          "{",
          "}",
          "\n",
          "  ",
          "&a ",
          "*a",
          "'",
          '"',
          "!t ",
          "|",
          "#",
          "%",
          "\t",
          "---\n",
          "? ",
          "é",
        ),
      )
      .map((parts) => parts.join(""));
    fc.assert(
      fc.property(fc.oneof(yamlish, fc.string({ unit: "binary" })), (text) => {
        const { findings, locate } = readWorkflow(text);
        const lines = text.split("\n").length;
        for (const finding of findings) {
          const { line, column } = locate(finding);
          expect(line).toBeGreaterThanOrEqual(1);
          expect(line).toBeLessThanOrEqual(lines);
          expect(column).toBeGreaterThanOrEqual(1);
        }
      }),
      { numRuns: 2000 },
    );
  });
});
