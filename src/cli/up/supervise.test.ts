import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { waitFor } from "../../../test/support/wait.ts";
import { announceUrl, readOrMakeToken, withdrawUrl } from "./local-files.ts";
import type { Supervised } from "./supervise.ts";
import { supervise } from "./supervise.ts";

const running: Supervised[] = [];
afterEach(() => {
  for (const each of running.splice(0)) each.kill();
});

function start(program: string, stopTimeoutMs?: number) {
  const seen = { lines: [] as string[], events: [] as string[], fatal: [] as string[], starts: 0 };
  const supervised = supervise({
    name: "child",
    spawn: (): ChildProcess => {
      seen.starts++;
      return spawn(process.execPath, ["-e", program], { stdio: ["ignore", "pipe", "pipe"] });
    },
    onLine: (line) => seen.lines.push(line),
    onEvent: (text) => seen.events.push(text),
    onFatal: (reason) => seen.fatal.push(reason),
    firstPauseMs: 1,
    ...(stopTimeoutMs === undefined ? {} : { stopTimeoutMs }),
  });
  running.push(supervised);
  return { supervised, seen };
}

describe("supervise", () => {
  it("starts an ended program again, and reports its exit status and last lines", async () => {
    const { seen } = start("console.log('about to fail'); process.exit(7)");
    await waitFor(() => seen.starts >= 3, { what: "two restarts" });
    expect(seen.events[0]).toMatch(/^child ended with exit status 7; starting it again in/);
    expect(seen.events.slice(1, 3)).toEqual(["its last 1 line:", "  about to fail"]);
  });

  it("waits longer each time", async () => {
    const { seen } = start("process.exit(1)");
    await waitFor(() => seen.events.length >= 4, { what: "four deaths" });
    const pauses = seen.events.map((text) => Number(/in (\d+) ms/.exec(text)?.[1]));
    expect(pauses.slice(0, 4)).toEqual([1, 2, 4, 8]);
  });

  it("gives up on wrong settings", async () => {
    const { seen } = start("console.error('PORT: must be a number'); process.exit(2)");
    await waitFor(() => seen.fatal.length > 0, { what: "giving up" });
    expect(seen.fatal[0]).toBe("child ended with exit status 2:\n  PORT: must be a number");
    expect(seen.starts).toBe(1);
  });

  it("stops for good when it is asked to", async () => {
    const { supervised, seen } = start("console.log('up'); setInterval(() => {}, 1000)");
    await waitFor(() => seen.lines.includes("up"), { what: "the child" });
    await supervised.stop();
    expect(supervised.pid()).toBeUndefined();
    expect(seen.events).toEqual([]);
  });

  it("kills what does not stop", async () => {
    const { supervised, seen } = start(
      "process.on('SIGTERM', () => {}); console.log('up'); setInterval(() => {}, 1000)",
      10,
    );
    await waitFor(() => seen.lines.includes("up"), { what: "the child" });
    await supervised.stop();
    expect(seen.events).toEqual(["child has not stopped: killing it"]);
  });
});

describe("the files of a local up", () => {
  it("hold one token, however many make it at once", async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "rmhdag-files-"));
    const file = path.join(folder, "data", "cli-token");
    const tokens = await Promise.all(Array.from({ length: 20 }, () => readOrMakeToken(file)));
    expect(new Set(tokens).size).toBe(1);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    await rm(folder, { recursive: true });
  });

  it("lose their address only to the one who wrote it", async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "rmhdag-files-"));
    const file = path.join(folder, "url");
    const isAlive = async (url: string) => url.endsWith(":1");
    await announceUrl(file, "http://127.0.0.1:3", isAlive);
    await announceUrl(file, "http://127.0.0.1:1", isAlive);
    await announceUrl(file, "http://127.0.0.1:2", isAlive);
    // The third is dead; commands use the first, which a second `up` does not replace.
    expect(await readFile(file, "utf8")).toBe("http://127.0.0.1:1\nhttp://127.0.0.1:2\n");
    await withdrawUrl(file, "http://127.0.0.1:2");
    expect(await readFile(file, "utf8")).toBe("http://127.0.0.1:1\n");
    await withdrawUrl(file, "http://127.0.0.1:1");
    await expect(readFile(file, "utf8")).rejects.toThrow("ENOENT");
    await rm(folder, { recursive: true });
  });
});
