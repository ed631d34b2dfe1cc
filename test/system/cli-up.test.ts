import { createServer } from "node:net";
import { once } from "node:events";
import { chmod, readFile, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startEmbeddedPostgres } from "../../src/adapters/embedded-postgres/start-embedded-postgres.ts";
import { rows } from "../support/embedded.ts";
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

/** So long that no test waits for the end of a lease. */
const leaseSeconds = 60;
const quick = () => ({
  LEASE_SEC: String(leaseSeconds),
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

  it("prints where to look, with a code that works once, and what to try", async () => {
    const shown = site.up.stdout();
    const [link = "", code = ""] = /http:\S+\/ui\/login#code=(\S+)/.exec(shown) ?? [];
    expect((await fetch(link)).status).toBe(200);
    const signIn = () =>
      fetch(`${site.url}/api/v1/session`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ code }),
      });
    const first = await signIn();
    expect(await first.json()).toEqual({ name: "cli", access: ["read", "operate", "curate"] });
    expect((await signIn()).status).toBe(401);
    expect(shown).toContain("npx rmhdag submit echo_test --input message=hello --wait");
    expect(shown).not.toMatch(/rmh(dag|t)_[\w-]{20}/);
  });

  it("makes another code, and tokens and sessions are listed and revoked", async () => {
    const made = await site.json<{ code: string; url: string }>("login-code", "--role", "read");
    expect(made.url).toBe(`${site.url}/ui/login#code=${made.code}`);
    const { token, token_id } = await site.json<{ token: string; token_id: string }>(
      ..."tokens create --name ci --role operate --expires 2d".split(" "),
    );
    const listed = await run(["jobs", "list", "--url", site.url, "--token", token]);
    expect(listed.status).toBe(0);
    const past = await site.cli(
      ..."tokens create --name old --role read --expires 2020-01-01T00:00:00Z".split(" "),
    );
    expect([past.status, past.stderr]).toEqual([1, expect.stringContaining("is in the past")]);
    expect((await site.cli("tokens", "revoke", token_id)).stdout).toBe("ci: revoked\n");
    expect((await run(["jobs", "list", "--url", site.url, "--token", token])).status).toBe(1);
    const sessions = await site.json<{ session_id: string }[]>("sessions", "list", "--active");
    expect(sessions.length).toBeGreaterThan(0);
    for (const { session_id } of sessions) {
      expect((await site.cli("sessions", "revoke", session_id)).status).toBe(0);
    }
    expect(await site.json("sessions", "list", "--active")).toEqual([]);
  });

  it("runs its programs as plain users of the database, and only itself as a superuser", async () => {
    const server = await startEmbeddedPostgres({
      dataDirectory: path.join(site.dataFolder, "postgres"),
    });
    const found = await rows(
      server.url,
      `SELECT DISTINCT regexp_replace(usename, '_[0-9a-f]{8}$', '') AS name, rolsuper
       FROM pg_stat_activity JOIN pg_roles ON rolname = usename
       WHERE datname = 'rmhdag' AND pid <> pg_backend_pid() ORDER BY 1`,
    );
    await server.stop();
    expect(found).toEqual([
      { name: "rmhdag_gateway", rolsuper: false },
      { name: "rmhdag_orchestrator", rolsuper: false },
      { name: "rmhdag_worker", rolsuper: false },
    ]);
  });

  it("passes its own doctor, which finds a secret that others can read", async () => {
    const { status, stdout } = await site.cli("doctor");
    expect(stdout).toMatch(/✓ database users: gateway as rmhdag_gateway_\w+, orchestrator as /);
    expect(stdout).toContain("0 problems");
    expect(status).toBe(0);
    const file = path.join(site.dataFolder, "worker-password");
    await chmod(file, 0o644);
    const open = await site.cli("doctor", "--json");
    await chmod(file, 0o600);
    expect(open.status).toBe(1);
    const { checks } = JSON.parse(open.stdout) as { checks: { name: string; status: string }[] };
    expect(checks.filter((check) => check.status === "problem")).toMatchObject([
      { name: "files with secrets", found: expect.stringContaining("worker-password") as string },
    ]);
  });

  it("keeps its tokens from other users, and out of its log", async () => {
    const secrets = ["cli-token", "service-token", "gateway-token"];
    const passwords = ["orchestrator-password", "worker-password", "gateway-password"];
    for (const name of [...secrets, ...passwords]) {
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
    const from = performance.now();
    process.kill(worker.pid, "SIGKILL");
    await site.up.shows(/heavy died of SIGKILL; starting it again/);
    const watched = await site.cli("jobs", "watch", job);
    expect(watched.stdout).toMatch(/completed in/);
    expect(watched.status).toBe(0);
    // The new worker returned the task; its lease would have lasted.
    expect(performance.now() - from).toBeLessThan(leaseSeconds * 1000);
    const workers = await site.json<WorkerJson>("workers");
    expect(workers.map(({ worker_id }) => worker_id.split("-")[0])).toEqual(["heavy", "light"]);
    expect(workers.every(({ alive }) => alive)).toBe(true);
  });

  it("starts its database again when that dies, says so, and goes on", async () => {
    const data = path.join(site.dataFolder, "postgres/cluster/data/postmaster.pid");
    const [pid] = (await readFile(data, "utf8")).split("\n");
    process.kill(Number(pid), "SIGKILL");
    await site.up.shows(/up +│ the database has died; starting it again/);
    await site.up.shows(/up +│ the database runs again/);
    const job = await waitFor(async () => site.json<{ job_id: string }>("submit", "nap"), {
      what: "a submission to be taken",
      timeoutMs: 20_000,
    });
    expect((await site.cli("jobs", "watch", job.job_id)).stdout).toMatch(/completed in/);
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
