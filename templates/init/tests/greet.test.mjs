// node --test tests
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import test from "node:test";

const run = (name, params) =>
  JSON.parse(
    execFileSync("npx", ["rmhdag", "handlers", "run", name, "--params", JSON.stringify(params)]),
  );

test("greets", () => {
  assert.deepEqual(run("my.greet", { name: "Ada" }), { greeting: "Hello, Ada!" });
});
