import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TestDatabase } from "../support/database.ts";
import { createTestDatabase } from "../support/database.ts";
import type { Site } from "../support/processes.ts";
import {
  endProcesses,
  root,
  run,
  start,
  startSite,
  temporaryFolder,
} from "../support/processes.ts";
import { waitFor } from "../support/wait.ts";

const workflows: Readonly<Record<string, string>> = {
  nap: `
inputs:
  seconds: {type: number, default: 30}
nodes:
  rest: {handler: sleep, params: {seconds: "{{ inputs.seconds }}"}, next: report}
  report: {handler: echo, params: {rested: true}}
`,
  breaks: `
nodes:
  before: {handler: echo, next: middle}
  middle: {handler: fail, params: {message: "no bands in this raster", category: permanent}, next: after}
  after: {handler: echo}
`,
  long: `
inputs:
  tiles: {type: array, required: true}
nodes:
  cut: {type: fan_out, source: "{{ inputs.tiles }}", task: {handler: echo, params: {tile: "{{ item }}"}}, next: gather}
  gather: {type: fan_in, next: mosaic}
  mosaic: {handler: echo, params: {results: "{{ nodes.gather.output.results }}"}}
`,
  hush: `
inputs:
  token: {type: string, required: true, secret: true}
nodes:
  call: {handler: fail, params: {message: "401 for {{ inputs.token }}", category: permanent}}
`,
};

let database: TestDatabase;
let site: Site;
let folder: string;

async function submit(...args: string[]): Promise<string> {
  return (await site.json<{ job_id: string }>("submit", ...args)).job_id;
}

beforeAll(async () => {
  database = await createTestDatabase({ empty: true });
  folder = await temporaryFolder();
  for (const [name, text] of Object.entries(workflows)) {
    await writeFile(path.join(folder, `${name}.yaml`), text);
  }
  const RMHDAG_WORKFLOWS = `${path.join(root, "workflows")},${folder}`;
  site = await startSite({ env: { DATABASE_URL: database.url, RMHDAG_WORKFLOWS } });
}, 90_000);
afterAll(async () => {
  await endProcesses();
  await database.drop();
}, 90_000);

describe("rmhdag on a database of the user's own", () => {
  it("migrates it and uses no other", () => {
    expect(site.up.stdout()).toContain(`data    PostgreSQL at ${new URL(database.url).host}`);
    expect(site.up.stdout()).toContain("applied 0001_engine.sql");
  });

  it.each([
    ["hello_world", ["name=Ada"], '"greeting": "Hello, Ada!"'],
    ["echo_test", ["message=hello"], '"message": "hello"'],
    ["data_pipeline_test", ["dataset=elevation"], '"loaded": "ELEVATION"'],
    ["fan_out_test", ['item_list=["a","b","c","d"]'], '"count": 4'],
    ["conditional_test", ["size_mb=500", "kind=vector"], '"done": "rows"'],
    ["checkpoint_test", ["phases=5"], '"phases_completed": 5'],
    ["retry_test", ["failure_rate=0"], "made it"],
    ["retry_fan_out_test", [], '"count": '],
  ])("runs %s to completion", async (workflow, inputs, result) => {
    const given = inputs.flatMap((input) => ["--input", input]);
    const { status, stdout, stderr } = await site.cli("submit", workflow, ...given, "--wait");
    expect(stderr).toBe("");
    expect(stdout).toContain(result);
    expect(status).toBe(0);
  });

  it("reads inputs from a file and from standard input", async () => {
    const args = ["submit", "echo_test", "--inputs", "-", "--wait", "--data-dir", site.dataFolder];
    const { stdout } = await run(args, { input: '{"message": "from a pipe"}' });
    expect(stdout).toContain('"message": "from a pipe"');
    const file = path.join(site.dataFolder, "inputs.json");
    await writeFile(file, '{"message": "from a file"}');
    const job = await submit("echo_test", "--inputs", file, "--idempotency-key", "once");
    expect(await submit("echo_test", "--inputs", file, "--idempotency-key", "once")).toBe(job);
  });
});

describe("a large result", () => {
  it("passes through a task and is printed whole", async () => {
    const tiles = Array.from({ length: 300 }, (_, index) => `tile ${index} ${"x".repeat(2000)}`);
    const file = path.join(site.dataFolder, "tiles.json");
    await writeFile(file, JSON.stringify({ tiles }));
    const waited = await site.cli("submit", "long", "--inputs", file, "--wait");
    expect(waited.stdout).toMatch(/The result has [\d,]+ bytes: rmhdag jobs result \w+/);
    const job = /jobs result (\w+)/.exec(waited.stdout)![1]!;
    const result = await site.cli("jobs", "result", job.slice(0, 12), "--json");
    const whole = JSON.parse(result.stdout) as {
      mosaic: { echoed_params: { results: { echoed_params: { tile: string } }[] } };
    };
    const { results } = whole.mosaic.echoed_params;
    expect(results.map((each) => each.echoed_params.tile)).toEqual(tiles);
    const kept = path.join(site.dataFolder, "result.json");
    await site.cli("jobs", "result", job, "--node", "mosaic", "--output", kept);
    expect(JSON.parse(await readFile(kept, "utf8"))).toEqual(whole.mosaic);
    const { stdout } = await site.cli("jobs", "show", job);
    expect(stdout.length).toBeLessThan(30_000);
    expect(stdout).toContain(`rmhdag jobs result ${job}`);
  });

  it("is refused while there is none, with the reason", async () => {
    const job = await submit("breaks");
    await site.cli("jobs", "watch", job);
    const { status, stderr } = await site.cli("jobs", "result", job);
    expect(status).toBe(1);
    expect(stderr).toContain("no bands in this raster");
  });
});

describe("a secret input", () => {
  it("is dots in every output and log", async () => {
    const hush = "hush-hush-77";
    const waited = await site.cli("submit", "hush", "--input", `token=${hush}`, "--wait");
    expect(waited.status).toBe(1);
    expect(waited.stderr).toContain("401 for ••••••••");
    const [job] = await site.json<{ job_id: string }[]>("jobs", "list", "--workflow", "hush");
    const outputs = [
      waited.stdout + waited.stderr,
      (await site.cli("jobs", "show", job!.job_id, "--json")).stdout,
      (await site.cli("jobs", "events", job!.job_id, "--json")).stdout,
      site.up.stdout(),
    ];
    for (const output of outputs) expect(output).not.toContain(hush);
  });
});

describe("jobs and workflows by a short name", () => {
  it("finds a job by the beginning of its id, and its nodes", async () => {
    const job = await submit("echo_test", "--input", "message=1");
    expect((await site.cli("jobs", "watch", job.slice(0, 12))).status).toBe(0);
    const shown = await site.json<{ job_id: string; input_params: object }>(
      "jobs",
      "show",
      job.slice(0, 12),
    );
    expect(shown).toMatchObject({ job_id: job, input_params: { message: "1" } });
    const nodes = await site.json<{ job_id: string }[]>("nodes", "--job", job.slice(0, 12));
    expect(nodes.length).toBeGreaterThan(1);
    expect(new Set(nodes.map((node) => node.job_id))).toEqual(new Set([job]));
    const { stdout } = await site.cli("nodes", "--job", job);
    expect(stdout).toMatch(/completed +echo +\S+ +1 /);
  });

  it("submits a file once the orchestrator has read it, and refuses one that it does not read", async () => {
    const nodes = "nodes: { a: { handler: echo } }";
    await writeFile(path.join(folder, "fresh.yaml"), nodes);
    const job = await submit(path.join(folder, "fresh.yaml"));
    expect((await site.cli("jobs", "watch", job)).status).toBe(0);
    const elsewhere = path.join(site.dataFolder, "elsewhere.yaml");
    await writeFile(elsewhere, nodes);
    const refused = await site.cli("submit", elsewhere);
    expect(refused.status).toBe(1);
    expect(refused.stderr).toContain("does not know workflow");
  });

  it("shows the inputs of a workflow in the order of its file", async () => {
    await writeFile(
      path.join(folder, "ordered.yaml"),
      "inputs: { zeta_long: {}, b: {}, alpha: {} }\nnodes: { a: { handler: echo } }",
    );
    await submit("ordered");
    const { inputs } = await site.json<{ inputs: object }>("workflows", "show", "ordered");
    expect(Object.keys(inputs)).toEqual(["zeta_long", "b", "alpha"]);
  });

  it("prints errors as problem+json with --json", async () => {
    const { status, stderr } = await site.cli("jobs", "show", "0".repeat(32), "--json");
    expect(status).toBe(1);
    expect(JSON.parse(stderr)).toMatchObject({ code: "JOB_NOT_FOUND", status: 404 });
  });
});

describe("a job that fails", () => {
  it("ends with 1, shows its first failure, and says what to do", async () => {
    const { status, stdout, stderr } = await site.cli("submit", "breaks", "--wait");
    expect(status).toBe(1);
    expect(stdout).toContain("✗ middle  failed");
    expect(stderr).toMatch(/First failure: middle\n.*no bands in this raster\n/);
    expect(stderr).toMatch(/rmhdag jobs retry \w+/);
  });

  it("can be retried and rerun from a node", async () => {
    const job = await submit("breaks");
    expect((await site.cli("jobs", "watch", job)).status).toBe(1);
    const retried = await site.cli("jobs", "retry", job, "--wait");
    expect(retried.stderr).toContain("First failure: middle");
    const rerun = await site.cli("jobs", "rerun", job, "--from", "before", "--wait");
    expect(rerun.stdout).toContain("✓ before  completed");
    expect(rerun.status).toBe(1);
  });
});

describe("a job that runs", () => {
  it("is left alone by Ctrl-C while it is watched, and stops when it is cancelled", async () => {
    const job = await submit("nap");
    const watching = site.startCli("jobs", "watch", job);
    await watching.shows(/rest {2}(dispatched|running)/);
    watching.signal("SIGINT");
    const left = await watching.ended;
    expect(left.stderr).toContain("The job goes on.");
    expect(left.status).toBe(130);
    expect((await site.json<{ status: string }>("jobs", "show", job)).status).toBe("running");

    const cancelled = await site.cli("jobs", "cancel", job, "--reason", "enough");
    expect(cancelled.stdout).toContain("cancelling");
    const ended = await site.cli("jobs", "watch", job);
    expect(ended.stderr).toContain("Reason: enough");
    expect(ended.status).toBe(1);
  });

  it("pauses before its next node and goes on", async () => {
    const job = await submit("nap", "--input", "seconds=4");
    expect((await site.cli("jobs", "pause", job)).stdout).toContain("paused");
    await waitFor(
      async () => (await site.cli("jobs", "show", job)).stdout.includes("the job is paused"),
      { what: "the second node to wait", timeoutMs: 20_000 },
    );
    await database.db.query(
      `UPDATE dagapp.dag_jobs SET error_code = 'CANNOT_SETTLE', error_message = 'its output is gone'
       WHERE job_id = $1`,
      [job],
    );
    const { stdout } = await site.cli("jobs", "show", job);
    expect(stdout).toContain("Failure: CANNOT_SETTLE: its output is gone");
    await site.cli("jobs", "resume", job);
    expect((await site.cli("jobs", "watch", job)).status).toBe(0);
  });

  it("gives its log while it runs", async () => {
    const job = await submit("checkpoint_test");
    const { status, stdout } = await site.cli("logs", job, "--follow", "--json");
    expect(status).toBe(0);
    const lines = stdout.trimEnd().split("\n").filter(Boolean);
    const again = await site.json<{ log_id: number }[]>("logs", job);
    expect(lines.map((line) => (JSON.parse(line) as { log_id: number }).log_id)).toEqual(
      again.map(({ log_id }) => log_id),
    );
  });
});

describe("--json", () => {
  it.each([
    ["jobs list"],
    ["jobs list --status completed --limit 600"],
    ["workflows list"],
    ["queues"],
    ["queues dead-letters container-tasks"],
    ["workers"],
    ["orchestrators"],
    ["nodes --limit 5"],
    ["tasks --limit 5"],
  ])("makes an array of %s", async (line) => {
    expect(Array.isArray(await site.json(...line.split(" ")))).toBe(true);
  });

  it("prints one event a line while it waits, and then the job", async () => {
    const { stdout } = await site.cli("submit", "echo_test", "--wait", "--json");
    const lines = stdout.trimEnd().split("\n");
    const values = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    const job = values.pop();
    expect(job).toMatchObject({ workflow_id: "echo_test", status: "completed" });
    expect(values.map(({ seq }) => seq)).toEqual(values.map((_, index) => index + 1));
    expect(values.at(-1)).toMatchObject({ event_type: "job_completed" });
    const events = await site.json<unknown[]>("jobs", "events", String(job?.["job_id"]));
    expect(events).toEqual(values);
  });

  it("is a whole status", async () => {
    expect(await site.json("status")).toMatchObject({ health: { status: "ok" } });
  });
});

describe("tables", () => {
  it("show a workflow as its tree", async () => {
    const { stdout } = await site.cli("workflows", "show", "conditional_test");
    expect(stdout).toContain("  ├─ process_heavy  echo on container-tasks\n");
  });

  it("show what happened to a job", async () => {
    const job = await submit("hello_world");
    await site.cli("jobs", "watch", job);
    expect((await site.cli("jobs", "events", job)).stdout).toMatch(/job_completed/);
    expect((await site.cli("jobs", "show", job)).stdout).toMatch(/greet +✓ completed/);
    expect((await site.cli("tasks", "--job", job)).stdout).toMatch(/_greet_0 +✓ completed/);
    expect((await site.cli("jobs", "list", "--search", job)).stdout).toMatch(/✓ completed/);
  });
});

describe("errors", () => {
  it("name the inputs that do not fit, with their place", async () => {
    const { status, stderr } = await site.cli("submit", "data_pipeline_test");
    expect(status).toBe(1);
    expect(stderr).toMatch(/\/inputs\/dataset {2}.*required/);
    expect(stderr).toContain("rmhdag workflows show");
  });

  it.each([
    ["submit no_such", 1, /no_such[^]*rmhdag workflows list/],
    ["jobs show no_such", 1, /no_such[^]*rmhdag jobs list/],
    ["queues dead-letters no_such", 1, /no_such[^]*rmhdag queues/],
    ["jobs list --token wrong", 1, /A token is required[^]*--token/],
    ["submit echo_test --input message", 2, /--input message: write a name and a value/],
    ["submit echo_test --inputs no_such.json", 2, /no_such\.json/],
    ["submit echo_test --priority 11", 2, /from 0 to 10/],
    ["jobs list --url nowhere", 2, /"nowhere" is not a URL/],
    ["jobs list --status lost", 2, /Allowed choices/],
    ["up --workers tiny", 2, /"tiny" is none of light, heavy, general/],
  ])("%s ends with %i and says why", async (line, expected, message) => {
    const { status, stderr } = await site.cli(...line.split(" "));
    expect(stderr).toMatch(message);
    expect(status).toBe(expected);
  });

  it("say how to start what does not run", async () => {
    const { status, stderr } = await run(["jobs", "list", "--url", "http://127.0.0.1:1"]);
    expect(stderr).toMatch(/Nothing answers at http:\/\/127.0.0.1:1[^]*`rmhdag up`/);
    expect(status).toBe(1);
  });

  it("say that no database answers", async () => {
    const env = { DATABASE_URL: "postgres://a:b@127.0.0.1:1/c" };
    const { status, stderr } = await run(["migrate"], { env });
    expect(stderr).toMatch(/No database answers at 127.0.0.1:1 .*DATABASE_URL/);
    expect(status).toBe(1);
  });
});

describe("programs on their own", () => {
  it("migrate, and say when there is nothing to do", async () => {
    const env = { DATABASE_URL: database.url };
    expect((await run(["migrate"], { env })).stdout).toMatch(/version \d+: nothing to apply/);
    const { stdout } = await run(["migrate", "--json"], { env });
    expect(JSON.parse(stdout)).toMatchObject({ applied: [] });
  });

  it("run as worker until they are stopped", async () => {
    const WORKER_ID = "lone-worker";
    const worker = start(["worker", "--data-dir", site.dataFolder], {
      env: { DATABASE_URL: database.url, WORKER_ID },
    });
    await worker.shows(/worker started/);
    worker.signal("SIGTERM");
    expect(await worker.ended).toMatchObject({ status: 0 });
  });

  it("run as orchestrator until they are stopped", async () => {
    const orchestrator = start(["orchestrator", "--data-dir", site.dataFolder], {
      env: { DATABASE_URL: database.url, ORCHESTRATOR_PORT: "0" },
    });
    await orchestrator.shows(/orchestrator started/);
    orchestrator.signal("SIGINT");
    expect(await orchestrator.ended).toMatchObject({ status: 0 });
  });

  it("end with 2 and name the setting that is wrong", async () => {
    const { status, stderr } = await run(["worker"]);
    expect(stderr).toContain("DATABASE_URL");
    expect(status).toBe(2);
  });
});
