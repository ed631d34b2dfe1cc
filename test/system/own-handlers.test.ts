import { execFile, spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/core/model/json.ts";
import type { TestDatabase } from "../support/database.ts";
import { createTestDatabase } from "../support/database.ts";
import { fixture } from "../support/fixtures.ts";
import type { Orchestrator, Program } from "../support/programs.ts";
import { Fleet, finished, submit } from "../support/programs.ts";
import { waitFor } from "../support/wait.ts";

/** Older ones know less of types than the package uses. */
const hasMypy = /^mypy (?:[2-9]|1\.[1-9]\d)/.test(
  spawnSync("mypy", ["--version"], { encoding: "utf8" }).stdout,
);
const root = path.resolve(import.meta.dirname, "../..");

/** The page's examples, which this test runs as they are printed. */
async function writeExamples(folder: string): Promise<void> {
  const page = await readFile(path.join(root, "docs/handlers.md"), "utf8");
  for (const [, file = "", text = ""] of page.matchAll(/```\w+ file=(\S+)\n([\s\S]*?)```/g)) {
    await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
    await writeFile(path.join(folder, file), text);
  }
}

/** Handlers that are given a value over 256 KiB: as a stream, whole, and as the file of a program. */
async function writeLargeExamples(folder: string): Promise<void> {
  const files = {
    "handlers/large.ts": `import { createHash } from "node:crypto";
import { once } from "node:events";
import { json } from "node:stream/consumers";
import { defineHandler, z } from "rmhdagmaster/worker";
export const make = defineHandler({
  name: "acme.make",
  params: z.strictObject({}),
  run: () => ({ tiles: Array.from({ length: 20_000 }, (_, n) => "täfelchen " + n) }),
});
export const read = defineHandler({
  name: "acme.read",
  params: z.strictObject({ streamed: z.unknown(), part: z.unknown(), whole: z.array(z.string()) }),
  streams: ["streamed", "part"],
  async run({ streamed, whole }, { stream }) {
    const hash = createHash("sha256");
    for await (const piece of stream("streamed")) hash.update(piece);
    const part = await json(stream("part"));
    const held = JSON.stringify(streamed).length;
    return { sha256: hash.digest("hex"), held, part: part.all.tiles.length, length: whole.length };
  },
});
`,
    "handlers/program.yaml": `name: acme.program
command: [sh, -c, 'echo "{\\"bytes\\": $(wc -c < "$RMHDAG_PARAMS_FILE"), \\"environment\\": \\"$RMHDAG_PARAMS\\"}"']
`,
    "workflows/large.yaml": `nodes:
  make: { handler: acme.make, next: [read, program] }
  read:
    handler: acme.read
    params:
      streamed: "{{ nodes.make.output.tiles }}"
      part: { all: "{{ nodes.make.output }}", n: 1 }
      whole: "{{ nodes.make.output.tiles }}"
  program: { handler: acme.program, params: { tiles: "{{ nodes.make.output.tiles }}" } }
`,
  };
  for (const [file, text] of Object.entries(files)) await writeFile(path.join(folder, file), text);
}

describe("handlers of the user's own", () => {
  let database: TestDatabase;
  let folder: string;
  let fleet: Fleet;
  let orchestrator: Orchestrator;
  const children: ChildProcess[] = [];
  /** The worker that the tests after the first use. */
  let last: Program;

  beforeAll(async () => {
    database = await createTestDatabase();
    folder = await mkdtemp(path.join(tmpdir(), "rmhdag-own-"));
    await writeExamples(folder);
    await writeLargeExamples(folder);
    const bad = path.join(folder, "handlers/broken.ts");
    await writeFile(bad, "export const x: number = ;");
    await writeFile(path.join(folder, "handlers/reserved.yaml"), "name: echo\ncommand: [date]\n");
    fleet = new Fleet(database.url, path.join(folder, "workflows"));
    orchestrator = await fleet.orchestrator({
      RMHDAG_ALLOW_TEST_HANDLER: "true",
      RMHDAG_HANDLERS: path.join(folder, "handlers"),
    });
    const bronze = path.join(fleet.dataDirectory, "storage/bronze");
    await mkdir(bronze, { recursive: true });
    const name = "dem_float32_epsg2056.tif";
    await copyFile(fixture(`raster/${name}`), path.join(bronze, name));
  });
  afterAll(async () => {
    for (const child of children) child.kill("SIGKILL");
    await fleet.stop();
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  });

  const worker = (env: Record<string, string> = {}): Promise<Program> =>
    fleet.worker({ RMHDAG_HANDLERS: path.join(folder, "handlers"), ...env });

  async function python(file: string): Promise<ChildProcess> {
    const { token } = await orchestrator.client.createToken({
      body: { name: `py-${children.length}`, access: ["work"] },
    });
    const child = spawn("python3", [file], {
      env: {
        PATH: process.env["PATH"],
        HOME: process.env["HOME"],
        PYTHONPATH: path.join(root, "python/src"),
        RMHDAG_URL: orchestrator.url,
        RMHDAG_TOKEN: token,
      },
      stdio: ["ignore", "inherit", "inherit"],
    });
    children.push(child);
    return child;
  }

  const known = (name: string) =>
    waitFor(
      async () => {
        const { items } = await orchestrator.client.listHandlers();
        return items.some((each) => each.name === name && each.alive);
      },
      { what: `a worker that offers ${name}`, timeoutMs: 40_000 },
    );

  it("runs one workflow in TypeScript, Python, a program and GDAL while each worker is killed", async () => {
    const slow = (await readFile(path.join(folder, "stats.py"), "utf8")).replace(
      'ctx.progress(50, "adding")',
      'ctx.progress(50, "adding")\n    ctx.sleep(60)',
    );
    const slowFile = path.join(folder, "slow.py");
    await writeFile(slowFile, slow);
    const firstPython = await python(slowFile);
    const first = await worker({ RMHDAG_FAIL_POINT: "worker.before_report:1" });
    expect(first.output()).toMatch(/broken\.ts cannot be loaded/);
    expect(first.output()).toMatch(
      /reserved\.yaml cannot be loaded: "echo" is the name of a handler/,
    );
    await known("acme.stats");
    await known("acme.double");
    const job = await waitFor(() => submit(orchestrator, "mixed").catch(() => undefined), {
      what: "the workflow of new handlers",
    });
    await first.gone;
    const second = await worker({ RMHDAG_FAIL_POINT: "worker.before_report:2" });
    await waitFor(
      async () => {
        const node = await orchestrator.client.getNode({
          params: { job_id: job, node_id: "stats" },
        });
        return node.progress?.percent === 50;
      },
      { what: "progress of the handler in Python", timeoutMs: 40_000 },
    );
    firstPython.kill("SIGKILL");
    await python(path.join(folder, "stats.py"));
    await second.gone;
    const third = await worker({ RMHDAG_FAIL_POINT: "worker.before_report:2" });
    await third.gone;
    last = await worker();
    const ended = await finished(orchestrator, job, 60_000);
    expect(ended).toMatchObject({ status: "completed" });
    const output = async (node_id: string) =>
      (await orchestrator.client.getNode({ params: { job_id: job, node_id } })).output;
    expect(await output("double")).toEqual({ doubled: 42 });
    expect(await output("stats")).toEqual({ sum: 100, output: "silver/stats/sum.txt" });
    expect(await output("words")).toEqual({ words: 4 });
    expect(await output("check")).toMatchObject({ crs: "EPSG:2056" });
    const file = path.join(fleet.dataDirectory, "storage/silver/stats/sum.txt");
    expect(await readFile(file, "utf8")).toBe("100.0");
  }, 240_000);

  it.each(["threads", "processes"])(
    "passes the tests of the package for Python, in %s",
    async (mode) => {
      const flows = {
        resume: "{ n: 5 }",
        compute: "{ seconds: 5 }",
        endless: "{}",
        wrong: "{}",
        values: "{}",
        chatty: "{}",
        unjson: "{}",
      };
      for (const [name, params] of Object.entries(flows)) {
        await writeFile(
          path.join(folder, `workflows/py_${name}.yaml`),
          `nodes: { a: { handler: pytests.${name}, params: ${params} } }`,
        );
      }
      await writeFile(
        path.join(folder, "workflows/py_large.yaml"),
        `nodes:
  a: { handler: pytests.make, next: b }
  b: { handler: pytests.read, params: { whole: "{{ nodes.a.output.tiles }}", streamed: "{{ nodes.a.output }}" } }
`,
      );
      const make = async (name: string, access: ("work" | "read" | "operate")[]) =>
        (await orchestrator.client.createToken({ body: { name, access } })).token;
      const { stderr } = await promisify(execFile)(
        "python3",
        ["-m", "unittest", "discover", "-s", "tests"],
        {
          cwd: path.join(root, "python"),
          env: {
            PATH: process.env["PATH"],
            HOME: process.env["HOME"],
            RMHDAG_URL: orchestrator.url,
            RMHDAG_TOKEN: await make(`tests-${mode}`, ["work"]),
            RMHDAG_CLIENT_TOKEN: await make(`client-${mode}`, ["read", "operate"]),
            RMHDAG_TEST_MODE: mode,
          },
          timeout: 150_000,
        },
      );
      // The test of pydantic's models is skipped where pydantic is not installed.
      expect(stderr).toMatch(/\nOK(?: \(skipped=1\))?\n/);
    },
    120_000,
  );

  it("gives the task of a Python worker back at SIGTERM, which another takes at once", async () => {
    await writeFile(
      path.join(folder, "workflows/back.yaml"),
      "nodes: { a: { handler: acme.sleepy, timeout_seconds: 100 } }",
    );
    const text = `import os, rmhdag
@rmhdag.handler("acme.sleepy", queue="sleepy")
def sleepy(ctx: rmhdag.Context) -> dict:
    if os.path.exists(${JSON.stringify(path.join(folder, "awake"))}):
        return {"awake": True}
    ctx.progress(7)
    ctx.sleep(90)
rmhdag.run()
`;
    const file = path.join(folder, "sleepy.py");
    await writeFile(file, text);
    const first = await python(file);
    await known("acme.sleepy");
    const job = await submit(orchestrator, "back");
    const node = () => orchestrator.client.getNode({ params: { job_id: job, node_id: "a" } });
    await waitFor(async () => (await node()).progress?.percent === 7, { what: "the handler" });
    await writeFile(path.join(folder, "awake"), "");
    const gone = once(first, "exit");
    first.kill("SIGTERM");
    expect(await gone).toEqual([0, null]);
    const since = performance.now();
    await python(file);
    const ended = await finished(orchestrator, job);
    // Long before the lease of the first has run out.
    expect(performance.now() - since).toBeLessThan(20_000);
    expect(ended.result_data).toMatchObject({ a: { awake: true } });
    expect((await node()).attempts).toHaveLength(1);
  }, 60_000);

  it.skipIf(!hasMypy)(
    "has types that mypy accepts, also in a program that uses them (needs mypy)",
    async () => {
      const file = path.join(folder, "typed.py");
      await writeFile(
        file,
        `from rmhdag import Client, Context, handler, run
from rmhdag.testing import run_handler

@handler("acme.typed", queue="gpu")
def typed(ctx: Context, red: str, scale: float = 1.0) -> dict[str, str]:
    with ctx.source(red) as local:
        return {"output": ctx.put("silver/typed.tif", local)}

def test() -> None:
    stored: dict[str, bytes] = run_handler(typed, red="bronze/a.tif").stored
    result = Client().submit("typed", red="bronze/a.tif").wait(timeout=5)
    print(typed.__name__, stored, result["output"])

if __name__ == "__main__":
    run(concurrency=2)
`,
      );
      const { stdout } = await promisify(execFile)(
        "mypy",
        ["--strict", "--cache-dir", path.join(folder, "mypy"), file],
        { env: { ...process.env, MYPYPATH: path.join(root, "python/src") } },
      );
      expect(stdout).toMatch(/^Success/);
    },
    120_000,
  );

  it("gives a large value whole, as a stream, and to a program as a file", async () => {
    const job = await submit(orchestrator, "large");
    expect(await finished(orchestrator, job)).toMatchObject({ status: "completed" });
    const output = async (node_id: string) =>
      (await orchestrator.client.getNode({ params: { job_id: job, node_id } })).output;
    const tiles = JSON.stringify(Array.from({ length: 20_000 }, (_, n) => `täfelchen ${n}`));
    const read = await output("read");
    expect(read).toMatchObject({
      sha256: createHash("sha256").update(tiles).digest("hex"),
      part: 20_000,
      length: 20_000,
    });
    // A reference: the value was never whole in memory.
    expect(read?.["held"]).toBeLessThan(300);
    const bytes = Buffer.byteLength(`{"tiles":${tiles}}`);
    expect(await output("program")).toEqual({ bytes, environment: "" });
  }, 120_000);

  it("runs one handler alone for an operator, without a job", async () => {
    const test = (handler: string, params: JsonObject) =>
      orchestrator.client.testHandler({ body: { handler, params } });
    expect(await test("acme.double", { n: 4 })).toMatchObject({
      status: "completed",
      output: { doubled: 8 },
      error: null,
      log: expect.arrayContaining([expect.stringContaining("doubled")]) as string[],
    });
    expect(await test("acme.double", { n: "four" })).toMatchObject({
      status: "failed",
      output: null,
      error: { code: "INVALID_PARAMS" },
    });
  }, 120_000);

  it("loads a module again when it changes, without a restart", async () => {
    const file = path.join(folder, "handlers/double.ts");
    const text = await readFile(file, "utf8");
    await writeFile(file, text.replace("n * 2", "n * 3"));
    await waitFor(
      async () => {
        await writeFile(
          path.join(folder, "workflows/again.yaml"),
          "nodes: { a: { handler: acme.double, params: { n: 5 } } }",
        );
        const job = await submit(orchestrator, "again");
        const ended = await finished(orchestrator, job);
        return JSON.stringify(ended.result_data).includes('"doubled":15');
      },
      { what: "the changed handler", timeoutMs: 30_000 },
    );
  }, 120_000);

  it("lets a task end with the function that it began with, when its module changes", async () => {
    const go = path.join(folder, "go");
    const module = (body: string) => `import { existsSync } from "node:fs";
import { defineHandler, z } from "rmhdagmaster/worker";
export default defineHandler({
  name: "acme.held",
  params: z.strictObject({}),
  async run() { ${body} },
});
`;
    const file = path.join(folder, "handlers/held.ts");
    const wait = `while (!existsSync(${JSON.stringify(go)})) await new Promise((r) => setTimeout(r, 50));`;
    await writeFile(file, module(`${wait} return { version: 1 };`));
    await writeFile(
      path.join(folder, "workflows/held.yaml"),
      "nodes: { a: { handler: acme.held } }",
    );
    await known("acme.held");
    const first = await submit(orchestrator, "held");
    const status = async () =>
      (await orchestrator.client.getNode({ params: { job_id: first, node_id: "a" } })).status;
    await waitFor(async () => (await status()) === "running", { what: "the first task" });
    await writeFile(file, module("return { version: 2 };"));
    await waitFor(() => last.output().split("acme.held").length > 2, { what: "the new module" });
    const second = await finished(orchestrator, await submit(orchestrator, "held"));
    expect(second.result_data).toMatchObject({ a: { version: 2 } });
    await writeFile(go, "");
    const ended = await finished(orchestrator, first);
    expect(ended.result_data).toMatchObject({ a: { version: 1 } });
  }, 120_000);
});
