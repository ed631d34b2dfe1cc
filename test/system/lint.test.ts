/** `npm run check:lint` finds what it must, in the files where it must: the linter is run on a folder of mistakes. */
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";

const root = path.resolve(import.meta.dirname, "../..");
let folder: string;

/** By file: lines, each with the rules that it breaks after `//=`. */
const mistakes: Readonly<Record<string, string>> = {
  "src/worker/promises.ts": `
    import { readFile } from "node:fs/promises";
    readFile("a"); //= no-floating-promises
    [1].forEach(async () => { await readFile("b"); }); //= no-misused-promises
    export const read = async () => { await 1; }; //= await-thenable
  `,
  "src/worker/types.ts": `
    export const text: string = JSON.parse("1"); //= no-unsafe-assignment
    export const sure = text === undefined; //= no-unnecessary-condition
    export const not = process.argv[9]!; //= no-non-null-assertion
    export const or = process.argv[9] || "x"; //= prefer-nullish-coalescing
    export function count(kind: "a" | "b") {
      switch (kind) { //= switch-exhaustiveness-check
        case "a": return 1;
      }
      return 2;
    }
  `,
  "src/worker/house.ts": `
    export * from "../orchestrator/main.ts"; //= zones
    export const later = () => import("../cli/main.ts"); //= zones
    export type { Broker } from "../adapters/broker/postgres-broker/broker.ts"; //= ports
    export const query = "SELECT 1"; //= no-sql
    export const part = \`UPDATE \${query} SET a = 1\`; //= no-sql
    export const now = Date.now(); //= no-restricted-properties
    export const date = new Date(); //= no-new-date
    export const home = process.env["HOME"]; //= no-restricted-properties
    export const one = { ...{ a: 1 } }; //= no-literal-spread
    console.log(one); //= no-console
    // oxlint-disable-next-line no-console //= unused
    export const two = 2;
  `,
  "src/core/pure.ts": `
    export { readFileSync } from "node:fs"; //= pure-imports
    export { z } from "zod";
    export * from "../adapters/runtime/clock.ts"; //= zones
    export const random = Math.random(); //= no-restricted-properties
  `,
  "src/adapters/postgres/queries/read.ts": `
    export * from "../repositories/write.ts"; //= zones
    export const query = "SELECT 1";
  `,
  "src/gateway/read.ts": `export * from "../adapters/postgres/repositories/write.ts"; //= zones`,
  "src/worker/wiring.ts": `export * from "../adapters/broker/postgres-broker/broker.ts";`,
  "src/worker/config.ts": `export const home = process.env["HOME"];`,
  "src/worker/some.test.ts": `
    export const now = [Date.now(), new Date(), process.env["HOME"]!, "SELECT 1"];
    export * from "../adapters/broker/postgres-broker/broker.ts";
    export * from "../gateway/main.ts"; //= zones
  `,
  "scripts/some.js": `export const seen = missing; //= no-undef`,
};

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "rmhdag-lint-"));
  for (const [file, text] of Object.entries(mistakes)) {
    await mkdir(path.join(folder, path.dirname(file)), { recursive: true });
    await writeFile(path.join(folder, file), text);
  }
  for (const file of ["oxlint.config.js", "scripts/house-rules.js", "tsconfig.json"]) {
    await cp(path.join(root, file), path.join(folder, file));
  }
  await writeFile(path.join(folder, "package.json"), '{ "type": "module" }');
  await symlink(path.join(root, "node_modules"), path.join(folder, "node_modules"));
});
afterAll(() => rm(folder, { recursive: true }));

it("reports each mistake by its rule, and nothing else", async () => {
  const printed = await new Promise<string>((resolve) => {
    const oxlint = path.join(root, "node_modules/oxlint/bin/oxlint");
    const args = [oxlint, "-c", "oxlint.config.js", "-f", "unix", "src", "scripts"];
    execFile(process.execPath, args, { cwd: folder }, (_error, stdout) => {
      resolve(stdout);
    });
  });
  const found = printed.split("\n").flatMap((line) => {
    const [, file, at, rule = "unused"] =
      /^(.+?):(\d+):\d+: .*\[Error(?:\/\w+\(([\w-]+)\))?\]$/.exec(line) ?? [];
    return file === undefined ? [] : [`${file}:${at} ${rule}`];
  });
  const expected = Object.entries(mistakes).flatMap(([file, text]) =>
    text.split("\n").flatMap((line, index) => {
      const rule = /\/\/= ([\w-]+)$/.exec(line)?.[1];
      return rule === undefined ? [] : [`${file}:${index + 1} ${rule}`];
    }),
  );
  expect(found.sort(), printed).toEqual(expected.sort());
});
