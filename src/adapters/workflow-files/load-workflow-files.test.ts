import { mkdtemp, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { handlerCatalogue } from "../../core/handlers/index.ts";
import { taskQueues } from "../../core/queues.ts";
import type { LoadedFiles } from "./load-workflow-files.ts";
import { loadWorkflowFiles } from "./load-workflow-files.ts";

const task = "nodes:\n  a: {handler: echo}\n";
let folder = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "workflow-files-"));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

async function write(name: string, content: string | Uint8Array): Promise<string> {
  const path = join(folder, name);
  await mkdir(join(path, ".."), { recursive: true });
  await writeFile(path, content);
  return path;
}

function load(...paths: string[]): Promise<LoadedFiles> {
  const options = { handlers: handlerCatalogue, env: new Set<string>() };
  return loadWorkflowFiles(paths, { ...options, queues: new Set(taskQueues) });
}

async function findings(...paths: string[]): Promise<string[]> {
  const loaded = await load(...paths);
  return loaded.findings.map(
    ({ file, line, column, code, message }) =>
      `${file.slice(folder.length + 1)}:${line}:${column} ${code} ${message}`,
  );
}

describe("loading files", () => {
  it("takes the *.yaml and *.yml of a folder and names a workflow after its file", async () => {
    await write("set/b.yaml", task);
    await write("set/a.yml", task);
    await write("set/notes.txt", "no workflow");
    const { workflows, findings: found } = await load(join(folder, "set"));
    expect(found).toEqual([]);
    expect(workflows.map((each) => each.definition.workflow_id)).toEqual(["a", "b"]);
  });

  it("reads a file once that is named twice", async () => {
    const file = await write("twice/a.yaml", task);
    expect((await load(file, join(folder, "twice"))).files).toEqual([file]);
  });

  it("refuses two files that define the same workflow", async () => {
    const first = await write("one.yaml", `workflow_id: same\n${task}`);
    const second = await write("two.yaml", `name: Two\nworkflow_id: same\n${task}`);
    expect(await findings(first, second)).toEqual([
      `two.yaml:2:14 DUPLICATE_WORKFLOW workflow "same" is already defined in ${first}`,
    ]);
  });

  it("says which file cannot be read and why, and goes on", async () => {
    await mkdir(join(folder, "empty"), { recursive: true });
    const latin = await write("latin.yaml", Buffer.from([0x6e, 0xe9, 0x3a, 0x20, 0x31]));
    const large = await write("large.yaml", "a: b\n".repeat(2_000_000));
    const good = await write("good.yaml", task);
    const paths = [join(folder, "absent.yaml"), join(folder, "empty"), latin, large, good];
    expect(await findings(...paths)).toEqual([
      "absent.yaml:1:1 FILE_UNREADABLE no such file or folder",
      "empty:1:1 FILE_UNREADABLE no *.yaml or *.yml in this folder",
      "latin.yaml:1:1 FILE_UNREADABLE not UTF-8 text",
      "large.yaml:1:1 FILE_TOO_LARGE 10000000 bytes; a workflow may have at most 1048576",
    ]);
    expect((await load(...paths)).workflows.map((each) => each.file)).toEqual([good]);
  });

  it("asks for a workflow_id where the file's name cannot be one", async () => {
    const file = await write("2 tiles.yaml", task);
    expect(await findings(file)).toEqual([
      '2 tiles.yaml:1:1 MISSING_KEY "workflow_id" is missing, and the file\'s name "2 tiles" cannot serve as one',
    ]);
  });
});

describe("the hash of a definition", () => {
  async function hash(text: string): Promise<string> {
    const { workflows } = await load(await write("hash/same.yaml", text));
    return workflows[0]!.hash;
  }

  it("is equal for equal meaning and differs with the slightest change of it", async () => {
    const plain = await hash("nodes:\n  a: {handler: echo, next: b}\n  b: {handler: echo}\n");
    expect(plain).toMatch(/^[0-9a-f]{64}$/);
    expect(
      await hash(
        "# same\nnodes:\n  b: {handler: echo}\n  a: {next: [b], type: task, handler: echo}\n",
      ),
    ).toBe(plain);
    expect(
      await hash(
        "nodes:\n  a: {handler: echo, next: b}\n  b: {handler: echo, timeout_seconds: 61}\n",
      ),
    ).not.toBe(plain);
  });
});

describe("the workflows that ship", () => {
  it("have no finding at all", async () => {
    const { findings: found, workflows } = await load("workflows");
    expect(found).toEqual([]);
    // Each file is a workflow of its own name.
    const files = (await readdir("workflows")).map((file) => basename(file, ".yaml"));
    expect(workflows.map((each) => each.definition.workflow_id)).toEqual(files.toSorted());
  });
});
