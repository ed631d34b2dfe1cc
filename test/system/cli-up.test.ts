import { createServer } from "node:net";
import { once } from "node:events";
import { stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Site } from "../support/processes.ts";
import {
  areGone,
  endProcesses,
  isRunning,
  root,
  run,
  startSite,
  temporaryFolder,
} from "../support/processes.ts";
import { waitFor } from "../support/wait.ts";

interface JobJson {
  readonly status: string;
  readonly nodes: readonly { readonly node_id: string; readonly worker_id: string | null }[];
}
type WorkerJson = readonly { readonly worker_id: string; readonly pid: number; alive: boolean }[];

const nap = `
inputs:
  seconds: {type: number, default: 1}
nodes:
  rest:
    handler: sleep
    queue: container-tasks
    params: {seconds: "{{ inputs.seconds }}"}
`;

let workflows = "";
let site: Site;

/** A lost worker's task is delivered again when its lease runs out, so a test wants a short one. */
const quick = () => ({
  LEASE_SEC: "2",
  RMHDAG_WORKFLOWS: `${path.join(root, "workflows")},${workflows}`,
});

beforeAll(async () => {
  workflows = await temporaryFolder();
  await writeFile(path.join(workflows, "nap.yaml"), nap);
  site = await startSite({ env: quick() });
}, 90_000);
afterAll(endProcesses, 90_000);

describe("rmhdag up", () => {
  it("runs a job that is submitted in another shell", async () => {
    const { status, stdout } = await site.cli(
      ..."submit echo_test --input message=hello --wait".split(" "),
    );
    expect(stdout).toContain("✓ echo_handler  completed");
    expect(stdout).toContain('"message": "hello"');
    expect(status).toBe(0);
  });

  it("prints where to look and what to try", async () => {
    const shown = site.up.stdout();
    const [link = ""] = /http:\S+\/ui\/login\?token=\S+/.exec(shown) ?? [];
    const answer = await fetch(link, { redirect: "manual" });
    expect(answer.status).toBe(303);
    expect(shown).toContain("npx rmhdag submit echo_test --input message=hello --wait");
  });

  it("keeps its tokens from other users, and out of its log", async () => {
    for (const name of ["cli-token", "service-token", "gateway-token", "gateway-password"]) {
      expect((await stat(path.join(site.dataFolder, name))).mode & 0o777).toBe(0o600);
    }
    const lines = site.up.stdout().split("\n");
    const log = lines.filter((line) => line.includes("│"));
    expect(log.length).toBeGreaterThan(3);
    expect(log.filter((line) => line.includes("rmhdag_"))).toEqual([]);
  });

  it("refuses requests without a token", async () => {
    expect((await fetch(`${site.url}/api/v1/jobs`)).status).toBe(401);
  });

  it("starts a killed worker again, and its job completes", async () => {
    const job = (await site.json<{ job_id: string }>("submit", "nap", "--input", "seconds=3"))
      .job_id;
    const worker = await waitFor(
      async () => {
        const { nodes } = await site.json<JobJson>("jobs", "show", job);
        const holder = nodes.find(({ node_id }) => node_id === "rest")?.worker_id;
        const workers = await site.json<WorkerJson>("workers");
        return workers.find(({ worker_id }) => worker_id === holder);
      },
      { what: "a worker that has the task", timeoutMs: 20_000 },
    );
    process.kill(worker.pid, "SIGKILL");
    await site.up.shows(/heavy died of SIGKILL; starting it again/);
    const watched = await site.cli("jobs", "watch", job);
    expect(watched.stdout).toMatch(/completed in/);
    expect(watched.status).toBe(0);
    const workers = await site.json<WorkerJson>("workers");
    expect(workers.some(({ worker_id, alive }) => alive && worker_id.startsWith("heavy-"))).toBe(
      true,
    );
  });

  it("is watched through a crash of its orchestrator", async () => {
    const job = (await site.json<{ job_id: string }>("submit", "nap", "--input", "seconds=4"))
      .job_id;
    const watching = site.startCli("jobs", "watch", job);
    await watching.shows(/rest {2}(dispatched|running)/);
    const [, pid] = /orchestrator\[(\d+)\]/.exec(site.up.stdout()) ?? [];
    process.kill(Number(pid), "SIGKILL");
    await watching.shows(/connection lost/);
    expect(await watching.ended).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/✓ rest {2}completed[^]*completed in/) as string,
    });
  });

  it("names the port that is in use, and the option", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as { port: number };
    const folder = await temporaryFolder();
    const { status, stderr } = await run(["up", "--port", String(port), "--data-dir", folder]);
    server.close();
    expect(status).toBe(1);
    expect(stderr).toMatch(new RegExp(`Port ${port} is in use.*--port`));
  });

  it("names the gateway's port and its option as well", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as { port: number };
    const folder = await temporaryFolder();
    const args = ["up", "--port", "0", "--gateway-port", String(port), "--data-dir", folder];
    const { status, stderr } = await run(args);
    server.close();
    expect(status).toBe(1);
    expect(stderr).toMatch(new RegExp(`Port ${port} is in use.*--gateway-port`));
  });

  it("stops instead of restarting when the settings are wrong", async () => {
    const { status, stdout } = await run(["up", "--port", "0", "--data-dir", site.dataFolder], {
      env: { MAX_DELIVERIES: "many" },
    });
    expect(status).toBe(1);
    expect(stdout).toMatch(/orchestrator ended with exit status 2:[^]*MAX_DELIVERIES/);
    expect(isRunning(site.up.pid)).toBe(true);
  });

  it("leaves no process behind after Ctrl-C", async () => {
    const pids = await site.pids();
    expect(pids.length).toBe(5);
    site.up.signal("SIGINT");
    const { status, stdout } = await site.up.ended;
    expect(stdout).toContain("stopped");
    expect(pids.filter(isRunning)).toEqual([]);
    expect(status).toBe(0);
  });

  it("leaves no process behind when it is killed", async () => {
    const again = await startSite({ env: quick(), dataFolder: site.dataFolder });
    const pids = await again.pids();
    expect(pids.length).toBe(5);
    again.up.signal("SIGKILL");
    await again.up.ended;
    await areGone(pids, 20_000);
  });
});
