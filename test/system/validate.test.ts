import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const program = join(root, "bin/rmhdag.js");

interface Run {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function rmhdag(args: readonly string[], env: Record<string, string> = {}): Promise<Run> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, ...args], {
      cwd: root,
      env: { ...process.env, ...env },
    });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    child.on("error", reject);
    child.on("close", (status) => {
      resolve({ status, stdout, stderr });
    });
  });
}

let folder = "";
let broken = "";
let doubtful = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "validate-"));
  broken = join(folder, "broken.yaml");
  doubtful = join(folder, "doubtful.yaml");
  await writeFile(
    broken,
    [
      "nodes:",
      "  a: {handler: ehco, next: b}",
      "  b: {handler: echo, next: a}",
      "  c: {handler: echo, queue: gpu-tasks}",
    ].join("\n"),
  );
  await writeFile(
    doubtful,
    "inputs:\n  n: {required: true, default: x}\nnodes:\n  a: {handler: echo}\n",
  );
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

describe("rmhdag validate", () => {
  it("finds nothing in the workflows that ship", async () => {
    expect(await rmhdag(["validate", "workflows"])).toEqual({
      status: 0,
      stdout: expect.stringMatching(/^\d+ files checked: 0 errors, 0 warnings\n$/) as unknown,
      stderr: "",
    });
  });

  it("prints every finding with its line and fails", async () => {
    expect(await rmhdag(["validate", broken])).toEqual({
      status: 1,
      stdout: [
        `${broken}:2:16 UNKNOWN_HANDLER no handler "ehco"; did you mean "echo"?`,
        `${broken}:3:28 CYCLE the nodes form a cycle: a → b → a`,
        `${broken}:4:29 UNKNOWN_QUEUE no queue "gpu-tasks"; declared: functionapp-tasks, container-tasks, dag-worker-tasks`,
        "1 file checked: 3 errors, 0 warnings\n",
      ].join("\n"),
      stderr: "",
    });
  });

  it("marks a warning and lets it pass", async () => {
    expect(await rmhdag(["validate", doubtful])).toMatchObject({
      status: 0,
      stdout: [
        `${doubtful}:2:23 UNUSED_DEFAULT warning: "n" is required, so its default is never used`,
        "1 file checked: 0 errors, 1 warning\n",
      ].join("\n"),
    });
  });

  it("knows the queues that the environment declares", async () => {
    const { stdout } = await rmhdag(["validate", broken], {
      RMHDAG_TASK_QUEUES: "gpu-tasks, dag-worker-tasks",
    });
    expect(stdout).not.toContain("UNKNOWN_QUEUE");
  });

  it("writes findings as JSON", async () => {
    const { status, stdout } = await rmhdag(["validate", "--json", doubtful]);
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toEqual([
      {
        file: doubtful,
        line: 2,
        column: 23,
        code: "UNUSED_DEFAULT",
        severity: "warning",
        message: '"n" is required, so its default is never used',
      },
    ]);
  });

  it("draws the graph as text and as Mermaid", async () => {
    const file = "workflows/hello_world.yaml";
    const text = [
      "hello_world (version 1)",
      "  @start: start → greet",
      "  greet: hello_world on dag-worker-tasks → @end",
      "  @end: end",
    ];
    const mermaid = [
      "flowchart TD",
      '  n0(["@start<br/>start"])',
      '  n1["greet<br/>hello_world on dag-worker-tasks"]',
      '  n2(["@end<br/>end"])',
      "  n0 --> n1",
      "  n1 --> n2",
    ];
    const summary = "1 file checked: 0 errors, 0 warnings";
    const draw = async (option: string): Promise<string[]> =>
      (await rmhdag(["validate", file, option])).stdout.trimEnd().split("\n");
    expect(await draw("--graph")).toEqual([...text, ...mermaid, summary]);
    expect(await draw("--graph=text")).toEqual([...text, summary]);
    expect(await draw("--graph=mermaid")).toEqual([...mermaid, summary]);
  });

  it("says that a file is not there", async () => {
    expect(await rmhdag(["validate", "absent.yaml"])).toMatchObject({
      status: 1,
      stdout: expect.stringContaining(
        "absent.yaml:1:1 FILE_UNREADABLE no such file or folder\n",
      ) as string,
    });
  });

  it("ends quietly when its output is not read to the end", async () => {
    const many = join(folder, "many.yaml");
    const nodes = Array.from({ length: 20_000 }, (_, index) => `  n${index}: {handler: no}`);
    await writeFile(many, `nodes:\n${nodes.join("\n")}`);
    const child = spawn(process.execPath, [program, "validate", many], { cwd: root });
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    child.stdout.once("data", () => child.stdout.destroy());
    await new Promise((resolve) => child.on("close", resolve));
    expect(stderr).toBe("");
  });
});

describe("rmhdag", () => {
  it.each([
    [["validate"], "missing required argument"],
    [["validate", "a.yaml", "--grpah"], "Did you mean --graph"],
    [["validate", "a.yaml", "--graph=svg"], "Allowed choices are text, mermaid"],
    [["valdate", "a.yaml"], "Did you mean validate"],
  ])("%j is wrong usage", async (args, message) => {
    const { status, stderr } = await rmhdag(args);
    expect(status).toBe(2);
    expect(stderr).toContain(message);
  });

  it("helps with examples and tells its version", async () => {
    const help = await rmhdag(["validate", "--help"]);
    expect(help.status).toBe(0);
    expect(help.stdout).toContain("rmhdag validate workflows");
    expect(await rmhdag(["--version"])).toMatchObject({ status: 0, stdout: "0.1.0\n" });
  });

  it("shows its commands when it is called with none", async () => {
    const { status, stderr } = await rmhdag([]);
    expect(status).toBe(2);
    expect(stderr).toContain("validate");
  });
});
