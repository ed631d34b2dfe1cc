import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import {
  chmod,
  chown,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { attackFromInside } from "../../../test/support/attack-from-inside.ts";
import type { Outcomes } from "../../../test/support/attack-from-inside.ts";
import { findSandbox } from "./find-sandbox.ts";
import { limitsFor } from "./limits.ts";
import type { GdalLimits } from "./limits.ts";
import { runProcess } from "./run-process.ts";
import type { Command } from "./run-process.ts";
import type { Sandbox } from "./sandbox.ts";
import { seccompFilter } from "./seccomp-filter.ts";

const secret = "the operator's token";
const isRoot = process.getuid?.() === 0;
const nobody = 65_534;
/** The tests run as root in CI: an ordinary user then starts the sandbox as well. */
const users = [
  { who: isRoot ? "root" : "this user", uid: undefined },
  { who: "an ordinary user", uid: nobody },
] as const;

let folder: string;
let canary: string;
let server: Server;
let requests: string[];
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "rmhdag sandbox-"));
  await chmod(folder, 0o755);
  canary = path.join(folder, "canary.txt");
  await writeFile(canary, secret, { mode: 0o644 });
  requests = [];
  server = createServer((request, response) => {
    requests.push(request.url ?? "");
    response.end(secret);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
beforeEach(() => {
  requests.length = 0;
});
afterAll(async () => {
  server.close();
  await rm(folder, { recursive: true, force: true });
});

for (const kind of ["bubblewrap", "namespaces"] as const) {
  const { sandbox, unusable } = await findSandbox([process.execPath], [kind]);
  const why = unusable.map(({ reason }) => reason).join();
  const title = sandbox === undefined ? `${kind} (needs it: ${why.slice(0, 80)})` : kind;
  describe.skipIf(sandbox === undefined)(title, () => {
    for (const { who, uid } of users) {
      const skipped = uid !== undefined && !isRoot;
      describe.skipIf(skipped)(skipped ? `${who} (needs root)` : `started by ${who}`, () => {
        describeSandbox(sandbox!, uid);
      });
    }
  });
}

function describeSandbox(sandbox: Sandbox, uid: number | undefined): void {
  const hasFilter = sandbox.kind === "bubblewrap" && seccompFilter(process.arch) !== undefined;
  let outcomes: Outcomes;
  let source: string;
  let workDir: string;

  beforeAll(async () => {
    const own = await mkdtemp(path.join(folder, "task-"));
    await chmod(own, 0o755);
    workDir = path.join(own, "work");
    await mkdir(workDir);
    if (uid !== undefined) await chown(workDir, uid, uid);
    source = path.join(own, "it's a source.txt");
    await writeFile(source, "the source");
    await writeFile(path.join(own, "neighbour.txt"), secret);
    await symlink(canary, path.join(workDir, "link"));
    const { port } = server.address() as AddressInfo;
    const targets = { canary, source, workDir, port, parent: process.pid };
    outcomes = JSON.parse(await runInside(attackFromInside(targets))) as Outcomes;
  });

  async function runInside(command: Command, bounds: Partial<GdalLimits> = {}): Promise<string> {
    const limits = { ...(await limitsFor({}, workDir)), ...bounds };
    const confined = sandbox.confine(command, { workDir, sources: [source], limits });
    const { stdout } = await runProcess(startedBy(uid, confined), { workDir, timeoutMs: 30_000 });
    return stdout;
  }

  it("shows the source and the work folder", async () => {
    expect(outcomes).toMatchObject({
      "read the source": "got the source",
      "write the work folder": "got made inside",
      "list the folder of the source": `got ${path.basename(source)},work`,
    });
    expect(await readFile(path.join(workDir, "made"), "utf8")).toBe("made inside");
  });

  it.each([
    "read the canary",
    "read the canary by ..",
    "read the canary through /proc",
    "read the canary through its parent",
    "read its parent's environment",
    "read its own memory map",
    "read the canary through a link that was there",
    "read the passwords",
    "list the home of root",
    "make a hard link",
  ])("cannot %s", (name) => {
    expect(outcomes[name]).toMatch(/^(?:ENOENT|ENOTDIR|EPERM|EXDEV)$/);
  });

  it("shows nothing of the machine but libraries and data", () => {
    expect(JSON.stringify(outcomes)).not.toContain(secret);
    const shown = (outcomes["root folder"] ?? "").split(",");
    const known = ["dev", "etc", "lib", "lib32", "lib64", "proc", ".old", "tmp", "usr"];
    expect(
      shown.filter((name) => !known.includes(name) && !workDir.startsWith(`/${name}/`)),
    ).toEqual(process.execPath.startsWith("/usr/") ? [] : [process.execPath.split("/")[1]]);
    expect(outcomes["see a disk"]).toBe("got null,random,urandom,zero");
    expect(outcomes["environment"]).toMatch(/^HOME(?:,OLDPWD)?(?:,PWD)?$/);
    expect(outcomes["list the canary's folder"]).toBe(
      `got ${path.basename(path.dirname(workDir))}`,
    );
  });

  it("cannot write outside of the work folder", async () => {
    expect(outcomes).toMatchObject({
      "change the source": expect.stringMatching(/^(?:EROFS|EACCES)$/) as string,
      "remove the source": expect.stringMatching(/^(?:EBUSY|EROFS)$/) as string,
      "write to a library folder": "EROFS",
      "write to the root folder": "EROFS",
    });
    expect(await readFile(source, "utf8")).toBe("the source");
    expect(await readdir(path.dirname(source))).toEqual([
      path.basename(source),
      "neighbour.txt",
      "work",
    ]);
  });

  it("has no network", () => {
    expect(outcomes["connect"]).toMatch(/^(?:ENETUNREACH|EPERM|EACCES)$/);
    expect(requests).toEqual([]);
  });

  it("cannot signal a process of the machine", () => {
    expect(outcomes["stop its parent"]).toBe("ESRCH");
  });

  it.skipIf(!hasFilter)(
    "starts no process and makes no link, by the filter of system calls",
    () => {
      expect(outcomes["start a program"]).toMatch(/^(?:EAGAIN|EPERM)$/);
      expect(outcomes["make a symbolic link"]).toBe("EPERM");
    },
  );

  const evaluate = (script: string): Command => ({
    program: "node",
    file: process.execPath,
    args: ["-e", script],
    env: {},
  });

  it("has no capabilities and gets none", async () => {
    const script = `try { process.setuid(1234); process.stdout.write("changed"); }
      catch (error) { process.stdout.write(error.code); }`;
    expect(await runInside(evaluate(script))).toMatch(/^(?:EPERM|EINVAL)$/);
  });

  // The kernel exempts root; the filter of bubblewrap then refuses every new process.
  it.skipIf(isRoot && uid === undefined)(
    "is held to a number of threads and processes",
    async () => {
      const script = `const { Worker } = require("node:worker_threads");
        let started = 0;
        try {
          while (started < 10) {
            new Worker("setInterval(() => undefined, 1000)", { eval: true });
            started++;
          }
        } catch {}
        process.stdout.write(String(started), () => process.exit());`;
      expect(await runInside(evaluate(script))).toBe("10");
      expect(Number(await runInside(evaluate(script), { processes: 14 }))).toBeLessThan(10);
    },
  );
}

/** The command as another user starts it. */
function startedBy(uid: number | undefined, command: Command): Command {
  if (uid === undefined) return command;
  const args = [`--reuid=${uid}`, `--regid=${uid}`, "--clear-groups", "--", command.file];
  return { ...command, file: "/usr/bin/setpriv", args: [...args, ...command.args] };
}
