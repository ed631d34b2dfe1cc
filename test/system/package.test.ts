/**
 * The packed product in an empty folder: `rmhdag init demo`, `up`, a job, an edit of the handler, and a
 * job that shows it. `npm run test:package` builds, packs and installs as a user does, which takes
 * minutes; the ordinary tests unpack the file and link the dependencies that it declares.
 */
import { cp, mkdir, readFile, readdir, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { createClient as clientOf } from "../../src/cli/client/index.ts";
import { endProcesses, root, startCommand, temporaryFolder } from "../support/processes.ts";

const isInstalled = process.env["PACKAGE_INSTALL"] === "npm";
const modules = path.join(root, "node_modules");
let folder: string;
let demo: string;
let packed: readonly string[];

/** The command `npx rmhdag …`. */
function rmhdag(...args: string[]): string[] {
  const program = path.join(folder, "node_modules/.bin/rmhdag");
  return [...(isInstalled ? ["npx", "rmhdag"] : [process.execPath, program]), ...args];
}

/** What a command prints; fails if it fails. */
async function outputOf(command: readonly string[], cwd: string): Promise<string> {
  const { status, stdout, stderr } = await startCommand(command, { cwd }).ended;
  if (status === 0) return stdout;
  throw new Error(`${command.join(" ")} ended with ${status}:\n${stdout}${stderr}`);
}

/** Packs the checkout, and answers the file and the names in it. */
async function pack(): Promise<{ readonly file: string; readonly names: readonly string[] }> {
  const skip = isInstalled ? [] : ["--ignore-scripts"];
  await outputOf(["npm", "pack", ...skip, "--pack-destination", folder], root);
  const name = (await readdir(folder)).find((each) => each.endsWith(".tgz")) ?? "";
  const file = path.join(folder, name);
  const listed = await outputOf(["tar", "-tzf", file], folder);
  return { file, names: listed.trim().split("\n") };
}

/** What `npm install` makes of the file, with links to the dependencies of this checkout. */
async function unpack(file: string): Promise<void> {
  const target = path.join(folder, "node_modules/rmhdagmaster");
  await mkdir(target, { recursive: true });
  await outputOf(["tar", "-xzf", file, "--strip-components=1", "-C", target], folder);
  const text = await readFile(path.join(target, "package.json"), "utf8");
  const { dependencies } = JSON.parse(text) as { dependencies: Record<string, string> };
  for (const name of Object.keys(dependencies)) {
    const link = path.join(folder, "node_modules", name);
    await mkdir(path.dirname(link), { recursive: true });
    await symlink(path.join(modules, name), link);
  }
  await mkdir(path.join(folder, "node_modules/.bin"));
  const program = path.join(target, "bin/rmhdag.js");
  await symlink(program, path.join(folder, "node_modules/.bin/rmhdag"));
  await writeFile(path.join(folder, "package.json"), "{}");
}

/** Handlers by command: who offers one, and a check of workflows elsewhere, without a server. */
async function useHandlers(): Promise<void> {
  const [shown, exported] = await Promise.all([
    outputOf(rmhdag("handlers", "show", "my.greet"), demo),
    outputOf(rmhdag("handlers", "export"), demo),
  ]);
  expect(shown).toMatch(/A node in a workflow:[^]*handler: my\.greet/);
  expect(shown).toMatch(/Offered by:\n {2}\S+ \(/);
  const elsewhere = path.join(folder, "elsewhere");
  await cp(path.join(demo, "workflows"), path.join(elsewhere, "workflows"), { recursive: true });
  await writeFile(path.join(elsewhere, "handlers.json"), exported);
  const check = (...more: string[]) =>
    startCommand(rmhdag("validate", "workflows", ...more), { cwd: elsewhere }).ended;
  const [known, unknown] = await Promise.all([check("--handlers", "handlers.json"), check()]);
  expect(known.status, known.stderr).toBe(0);
  expect(unknown.status).toBe(1);
  expect(unknown.stdout).toContain("my.greet");
}

/** The package's client: submits, watches, waits, and reads the lists. */
async function useClient(url: string): Promise<void> {
  const file = path.join(folder, "node_modules/rmhdagmaster/dist/cli/client/index.js");
  const { createClient } = (await import(file)) as { createClient: typeof clientOf };
  const token = (await readFile(path.join(demo, ".rmhdag/cli-token"), "utf8")).trim();
  const client = createClient({ url, token });
  const job = await client.submit("hello", { name: "Bob" });
  const seen: string[] = [];
  for await (const { type } of job.watch()) seen.push(type);
  expect([seen[0], seen.at(-1)]).toEqual(["snapshot", "end"]);
  expect(await job.wait()).toMatchObject({ result_data: { greeting: "Hello, Bob!" } });
  expect((await client.handlers()).map(({ name }) => name)).toContain("my.greet");
  const assets: string[] = [];
  for await (const { asset_id } of client.assets()) assets.push(asset_id);
  expect(assets).toEqual([]);
  expect(await client.catalogue.search({ limit: 5 })).toEqual([]);
}

/** A user's program in TypeScript, and one with a mistake that the types must find. */
async function useTypes(): Promise<void> {
  const program = `import { createClient } from "rmhdagmaster/client";
import { defineHandler, z } from "rmhdagmaster/worker";

export const twice = defineHandler({
  name: "my.twice",
  params: z.strictObject({ n: z.number() }),
  result: z.object({ twice: z.number() }),
  async run({ n }, { storage, signal, gdal, workDir, checkpoint }) {
    signal.throwIfAborted();
    await checkpoint.save("half", { n });
    await storage.put(\`silver/\${workDir}\`, new TextEncoder().encode(gdal.version));
    return { twice: n * 2 };
  },
});
const client = createClient({ url: "http://127.0.0.1:8000" });
const job = await client.submit("hello", { name: "Ada" });
for await (const message of job.watch()) if (message.type === "end") break;
const status: "pending" | "running" | "completed" | "failed" | "cancelled" = (await job.wait()).status;
for await (const asset of client.assets()) console.log(asset.asset_id, status);
`;
  await writeFile(path.join(folder, "right.ts"), program);
  await writeFile(path.join(folder, "wrong.ts"), program.replace("n * 2", "String(n)"));
  const compile = (file: string) =>
    startCommand(
      [
        ...["node", path.join(modules, "typescript/bin/tsc"), "--noEmit", "--strict"],
        ...["--target", "es2023", "--module", "nodenext", "--types", "node"],
        ...["--typeRoots", path.join(modules, "@types"), "--skipLibCheck", "--ignoreConfig", file],
      ],
      { cwd: folder },
    ).ended;
  await writeFile(path.join(folder, "package.json"), '{ "type": "module" }');
  const [right, wrong] = await Promise.all([compile("right.ts"), compile("wrong.ts")]);
  expect(right.stdout + right.stderr).toBe("");
  expect(wrong.stdout).toMatch(/wrong\.ts\(\d+,\d+\): error TS2322: .*string.*number/);
}

describe("the packed product in an empty folder", () => {
  beforeAll(async () => {
    folder = await temporaryFolder();
    demo = path.join(folder, "demo");
    const { file, names } = await pack();
    packed = names;
    if (isInstalled) await outputOf(["npm", "install", "--prefer-offline", file], folder);
    else await unpack(file);
  }, 900_000);
  afterAll(endProcesses, 90_000);

  it("holds everything that a user runs, and nothing that only we need", () => {
    const wanted = [
      "bin/rmhdag.js",
      "dist/programs/cli.js",
      "dist/worker/api.js",
      "dist/cli/client/index.js",
      "ui/dist/index.html",
      "migrations/0001_engine.sql",
      "workflows/raster_ingest.yaml",
      "templates/init/handlers/greet.ts",
      "python/src/rmhdag/__init__.py",
      ...(isInstalled ? ["dist/worker/api.d.ts", "dist/cli/client/index.d.ts"] : []),
    ];
    const names = packed.map((name) => name.replace(/^package\//, ""));
    expect(wanted.filter((name) => !names.includes(name))).toEqual([]);
    expect(
      names.filter((name) => /__pycache__|egg-info|^(src|test|node_modules)\//.test(name)),
    ).toEqual([]);
  });

  // Declarations are built for a release only, because that takes a minute.
  it.runIf(isInstalled)("types a user's handlers and client by their contracts", useTypes, 120_000);

  it("runs a changed handler of `rmhdag init` at the next submission", async () => {
    await outputOf(rmhdag("init", "demo"), folder);
    const up = startCommand(rmhdag("up", "--port", "0"), { cwd: demo });
    const [, url = ""] = await up.shows(/is running at (http:\S+)/, 120_000);
    expect((await fetch(`${url}/ui/`)).status).toBe(200);
    // Its workflow waits for the worker that offers its handlers: nothing is wrong.
    expect(up.stdout()).not.toMatch(/WARN|ERROR|UNKNOWN_HANDLER/);
    const submit = rmhdag("submit", "hello", "--input", "name=Ada", "--wait");
    expect(await outputOf(submit, demo)).toContain('"greeting": "Hello, Ada!"');

    expect(await outputOf(rmhdag("validate", "workflows"), demo)).toContain("0 errors");
    await useClient(url);
    await useHandlers();
    const tests = [
      ["node", "--test", "tests"],
      ["python3", "-m", "unittest", "discover", "tests"],
    ];
    await Promise.all(tests.map((command) => outputOf(command, demo)));

    const file = path.join(demo, "handlers/greet.ts");
    await writeFile(file, (await readFile(file, "utf8")).replace("Hello,", "Good morning,"));
    // Each of the two workers, the second time.
    await up.shows(/(?:loaded handlers[\s\S]*){4}/);
    expect(await outputOf(submit, demo)).toContain('"greeting": "Good morning, Ada!"');
    const alone = rmhdag("handlers", "run", "my.greet", "--params", '{"name":"Bob"}');
    const ran = await startCommand(alone, { cwd: demo }).ended;
    expect(JSON.parse(ran.stdout)).toEqual({ greeting: "Good morning, Bob!" });
    // The template logs a field `name`.
    expect(ran.stderr).toMatch(/ my\.greet\[\d+\] greeting .*"Bob"/);
  }, 300_000);
});
