import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { ApiError } from "../core/api/api-error.ts";
import { isThisMachine } from "./commands/connect.ts";
import { readConfig, workflowFolders } from "./common/config.ts";
import { describeError, describeProblem, Failure } from "./common/failure.ts";
import { parseValue, readInputs } from "./commands/inputs.ts";
import { duration, table } from "./common/format.ts";

describe("inputs", () => {
  it.each([
    ["hello", "hello"],
    ["5", 5],
    ["[1, 2]", [1, 2]],
    ['"5"', "5"],
    ["null", null],
    ["007", "007"],
    ["", ""],
    ["a=b", "a=b"],
    // As a number it would be 12345678901234567000.
    ["12345678901234567890", "12345678901234567890"],
  ])("%s is read as %j", (text, value) => {
    expect(parseValue(text)).toEqual(value);
  });

  it("keep names that objects have by themselves", async () => {
    const inputs = await readInputs(["__proto__=1", "constructor=x"], undefined);
    expect(Object.entries(inputs)).toEqual([
      ["__proto__", 1],
      ["constructor", "x"],
    ]);
  });
});

describe("inputs of a declared type", () => {
  const types = { message: { type: "string" }, n: { type: "integer" } };

  it("follow it: a text stays a text", async () => {
    const pairs = ["message=1", "n=1", "other=1"];
    expect(await readInputs(pairs, undefined, types)).toEqual({ message: "1", n: 1, other: 1 });
    expect(await readInputs(['message="1"'], undefined, types)).toEqual({ message: "1" });
    expect(await readInputs(["message=[1]"], undefined, types)).toEqual({ message: "[1]" });
    expect(await readInputs(["message=true"], undefined, types)).toEqual({ message: "true" });
  });
});

describe("errors with --json", () => {
  it("are problem+json", () => {
    const items = [{ pointer: "/inputs/n", code: "WRONG_TYPE", message: "must be a number" }];
    const refusal = new ApiError("INVALID_INPUTS", 400, "the inputs do not fit", items);
    expect(JSON.parse(describeProblem(refusal))).toEqual({
      type: "about:blank",
      title: "The inputs do not fit the workflow",
      status: 400,
      code: "INVALID_INPUTS",
      detail: "the inputs do not fit",
      errors: items,
    });
    expect(JSON.parse(describeProblem(new ApiError("UNREACHABLE", 0, "no answer")))).toMatchObject({
      code: "UNREACHABLE",
      detail: "no answer",
    });
    expect(JSON.parse(describeProblem(new Failure("it is full")))).toMatchObject({
      code: "FAILED",
      detail: "it is full",
    });
  });
});

describe("the folders of workflows", () => {
  it("are the shipped ones and the user's own, or those that are given", async () => {
    const before = process.cwd();
    const folder = await mkdtemp(path.join(tmpdir(), "own-workflows-"));
    try {
      process.chdir(folder);
      const [shipped, own] = workflowFolders(readConfig({})).split(",");
      expect(existsSync(path.join(shipped!, "hello_world.yaml"))).toBe(true);
      expect(own).toBe(`${path.join(process.cwd(), "workflows")}?`);
      expect(workflowFolders(readConfig({ RMHDAG_WORKFLOWS: "/x" }))).toBe("/x");
    } finally {
      process.chdir(before);
      await rm(folder, { recursive: true });
    }
  });
});

describe("the token of a local up", () => {
  it.each([
    ["http://127.0.0.1:8000", true],
    ["http://localhost:9000", true],
    ["http://[::1]:8000", true],
    ["https://dag.example.org", false],
    ["http://127.0.0.1.example.org", false],
    ["http://localhost.example.org", false],
  ])("is sent to %s: %s", (url, isSent) => {
    expect(isThisMachine(url)).toBe(isSent);
  });
});

describe("errors", () => {
  it("show where in the request they are", () => {
    const error = new ApiError("BAD_REQUEST", 400, "two things", [
      { pointer: "/priority", code: "x", message: "must be at most 10" },
      { pointer: "", code: "x", message: "has unknown keys" },
    ]);
    expect(describeError(error)).toBe(
      "The request is not valid: two things\n" +
        "  /priority  must be at most 10\n" +
        "  /          has unknown keys",
    );
  });

  it("have a stack only when they are mistakes of ours", () => {
    expect(describeError(new Failure("no such port"))).toBe("no such port");
    expect(describeError(new TypeError("x is not a function"))).toContain("cli.test.ts");
  });
});

describe("durations", () => {
  it.each([
    [-5, "0 ms"],
    [999, "999 ms"],
    [3249, "3.2 s"],
    [59_960, "1 min 00 s"],
    [3_599_000, "59 min 59 s"],
    [7_800_000, "2 h 10 min"],
    [200_000_000, "2 d"],
  ])("%i is %s", (milliseconds, text) => {
    expect(duration(milliseconds)).toBe(text);
  });
});

describe("tables", () => {
  it("align numbers right and everything else left", () => {
    expect(
      table(
        ["NAME", "COUNT", "NOTE"],
        [
          ["a", 5, null],
          ["long name", 1000, "x"],
        ],
      ),
    ).toBe("NAME       COUNT  NOTE\n" + "a              5  –\n" + "long name   1000  x");
  });
});
