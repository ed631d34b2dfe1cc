import { existsSync, readFileSync } from "node:fs";
import { cp, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fixture } from "../support/fixtures.ts";
import type { Running } from "../support/processes.ts";
import { endProcesses, root, siteOf, startCommand, temporaryFolder } from "../support/processes.ts";

interface Block {
  readonly language: string;
  readonly text: string;
  /** The prose between this block and the one before. */
  readonly before: string;
}

/** Names that every program reads. */
const common = "adapters/runtime/environment.ts";
const tracingInReadme = ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_TRACES_SAMPLER"];

const readme = readFileSync(path.join(root, "README.md"), "utf8");

function blocks(): Block[] {
  const found = [...readme.matchAll(/^```(\w*)\n([^]*?)^```$/gm)];
  return found.map((match, index) => {
    const last = index === 0 ? undefined : found[index - 1];
    const from = last === undefined ? 0 : last.index + last[0].length;
    return {
      language: match[1] ?? "",
      text: match[2] ?? "",
      before: readme.slice(from, match.index),
    };
  });
}

const commands = blocks()
  .filter(({ language }) => language === "sh")
  .flatMap(({ text }) => text.trim().split("\n"));

/** What a newcomer writes and runs stays in a folder of its own, with the workflows that ship. */
let folder = "";
let up: Running;

/** The shell's own rules for quotes, and this build instead of whatever npx would find. */
function shell(command: string): Running {
  const [, args = ""] = /^npx rmhdag (.*)$/.exec(command) ?? [];
  const program = `'${process.execPath}' '${path.join(root, "bin/rmhdag.js")}'`;
  return startCommand(["/bin/sh", "-c", `exec ${program} ${args}`], {
    cwd: folder,
    env: { ORCHESTRATOR_PORT: "0" },
  });
}

beforeAll(async () => {
  folder = await temporaryFolder();
  await cp(path.join(root, "workflows"), path.join(folder, "workflows"), { recursive: true });
  await cp(fixture("raster/dem_float32_epsg2056.tif"), path.join(folder, "dem.tif"));
  up = shell("npx rmhdag up");
  await siteOf(up, path.join(folder, ".rmhdag"));
}, 90_000);
afterAll(endProcesses, 90_000);

describe("the README", () => {
  it("starts with the command that shows a newcomer a map, and goes on with the platform", () => {
    expect(commands[0]).toBe("npm ci && npm run demo");
    expect(commands[1]).toBe("npm start");
    expect(commands[2]).toBe("npx rmhdag submit echo_test --input message=hello --wait");
    expect(commands).toContain("npm test");
  });

  it("describes npm start and npm run demo as they are", async () => {
    const manifest = JSON.parse(await readFile(path.join(root, "package.json"), "utf8")) as {
      scripts: Record<string, string>;
    };
    expect(manifest.scripts["start"]).toBe("node bin/rmhdag.js up");
    expect(manifest.scripts["demo"]).toBe("node bin/rmhdag.js demo");
  });

  it("names files before it uses them", async () => {
    const files = blocks().filter(({ language }) => language === "yaml");
    expect(files.length).toBe(1);
    for (const { before, text } of files) {
      const [, file = ""] = /`(workflows\/\w+\.yaml)`/.exec(before) ?? [];
      expect(file).not.toBe("");
      await writeFile(path.join(folder, file), text);
    }
  });

  it.each(commands.filter((command) => command.startsWith("npx rmhdag ")))(
    "says what works: %s",
    async (command) => {
      const { status, stdout, stderr } = await shell(command).ended;
      expect({ status, stderr: status === 0 ? "" : stderr }).toEqual({ status: 0, stderr: "" });
      if (command.includes("--wait")) expect(stdout).toContain("completed in");
      if (command.includes("ingest")) expect(stdout).toMatch(/^http:/);
      if (command.includes("message=hello")) expect(stdout).toContain('"message": "hello"');
      if (command.includes("greet_all --input")) expect(stdout).toMatch(/Ada[^]*Grace/);
    },
  );

  it("links to files that are there", () => {
    const links = [...readme.matchAll(/\]\(([^)#]+)\)/g)].map(([, link = ""]) => link);
    expect(links.length).toBeGreaterThan(5);
    expect(links.filter((link) => !existsSync(path.join(root, link)))).toEqual([]);
  });

  it("lists every variable that a program reads, or docs/compatibility.md does, and no other", async () => {
    const declared = new Set(["TEST_DATABASE_URL", "CHROMIUM", ...tracingInReadme]);
    const programs = ["orchestrator/config.ts", "worker/config.ts", "cli/common/config.ts"];
    const shared = [
      "adapters/broker/settings.ts",
      "core/handlers/parameter-defaults.ts",
      "core/handlers/site-defaults.ts",
      "core/retention/classes.ts",
      common,
    ];
    for (const file of [...programs, ...shared]) {
      const text = await readFile(path.join(root, "src", file), "utf8");
      for (const [, inSchema, read] of text.matchAll(
        /^ {2,4}([A-Z][A-Z_]+):|env(?:ironment)?\["([A-Z_]+)"\]/gm,
      )) {
        declared.add(inSchema ?? read ?? "");
      }
    }
    // Whether the terminal can do colours is its own to say, fail points are for the tests, and
    // `rmhdag handlers run` sets the others.
    const internal = ["TERM", "RMHDAG_FAIL_POINT", "RMHDAG_RUN_HANDLER", "RMHDAG_RUN_PARAMS"];
    for (const name of internal) declared.delete(name);
    const listed = [...readme.matchAll(/^\| `([A-Z][A-Z_]+)` /gm)].map(([, name = ""]) => name);
    for (const name of await otherNames()) if (!listed.includes(name)) declared.delete(name);
    expect(listed.toSorted()).toEqual([...declared].toSorted());
  });

  it("leaves those of the gateway to its own page, which lists them all", async () => {
    const files = ["gateway/config.ts", common].map((file) => path.join(root, "src", file));
    const text = (await Promise.all(files.map((file) => readFile(file, "utf8")))).join("\n");
    const page = await readFile(path.join(root, "docs/gateway.md"), "utf8");
    const listed = [...page.matchAll(/^\| `([A-Z][A-Z_]+)` /gm)].map(([, name = ""]) => name);
    const others = (await otherNames()).filter((name) => !listed.includes(name));
    const read = [...text.matchAll(/^ {2}([A-Z][A-Z_]+):/gm)]
      .map(([, name = ""]) => name)
      .filter((name) => !others.includes(name));
    expect(read.length).toBeGreaterThan(10);
    expect(listed.toSorted()).toEqual(read.toSorted());
  });

  it("leaves all but two of those of traces to their page, which lists them all", async () => {
    const page = await readFile(path.join(root, "docs/tracing.md"), "utf8");
    const text = await readFile(path.join(root, "src/adapters/tracing/settings.ts"), "utf8");
    const read = [...text.matchAll(/^ {2}([A-Z][A-Z_]+):/gm)].map(([, name = ""]) => name);
    expect(read).toEqual(expect.arrayContaining(tracingInReadme));
    // Names that share their beginning are written as one name and the endings of the others.
    const named = (name: string) =>
      page.includes(`\`${name}`) ||
      page.includes(`\`${name.replace(/^OTEL_(BSP|EXPORTER_OTLP)/, "")}\``);
    expect(read.filter((name) => !named(name))).toEqual([]);
  });

  it("leaves those of Azure Data Factory to their page, which lists them all", async () => {
    const page = await readFile(path.join(root, "docs/exports.md"), "utf8");
    const text = await readFile(path.join(root, "src/adapters/azure/settings.ts"), "utf8");
    const names = (given: string, pattern: RegExp) =>
      [...given.matchAll(pattern)].map(([, name = ""]) => name).toSorted();
    expect(names(page, /^\| `([A-Z][A-Z_]+)` /gm)).toEqual(names(text, /^ {2}([A-Z][A-Z_]+):/gm));
  });

  it("leaves those of storage and GDAL to their page, which lists them all", async () => {
    const page = await readFile(path.join(root, "docs/storage.md"), "utf8");
    const files = [
      "src/adapters/storage/settings.ts",
      "src/adapters/storage/place-settings.ts",
      "src/adapters/gdal/create-gdal.ts",
    ];
    const read: string[] = [];
    for (const file of files) {
      const text = await readFile(path.join(root, file), "utf8");
      read.push(...[...text.matchAll(/^ {2}([A-Z][A-Z0-9_]+):/gm)].map(([, name = ""]) => name));
    }
    const listed = [...page.matchAll(/^\| `([A-Z][A-Z0-9_]+)` /gm)].map(([, name = ""]) => name);
    expect(read.length).toBeGreaterThan(10);
    expect(listed.toSorted()).toEqual(read.filter((name) => name !== "PATH").toSorted());
  });

  /** The names of older platforms that the programs read as well. */
  async function otherNames(): Promise<string[]> {
    const page = await readFile(path.join(root, "docs/compatibility.md"), "utf8");
    return [...page.matchAll(/`([A-Z][A-Z_]+)[`=]/g)].map(([, name = ""]) => name);
  }

  it("stops with Ctrl-C", async () => {
    up.signal("SIGINT");
    expect((await up.ended).stdout).toContain("stopped");
  });
});
