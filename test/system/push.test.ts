/** Push connections: tasks are pushed to waiting workers, and reports come back the same way. */
import { createHmac } from "node:crypto";
import { once } from "node:events";
import type { Server } from "node:net";
import { createServer, connect as openSocket } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { expectInvariants } from "../support/chaos-invariants.ts";
import type { TestDatabase } from "../support/database.ts";
import { createTestDatabase } from "../support/database.ts";
import { connected, counted } from "../support/push.ts";
import { Fleet, finished, submit } from "../support/programs.ts";
import type { WorkFolder } from "../faults/mixed-work.ts";
import { makeWorkFolder } from "../faults/mixed-work.ts";

let folder: WorkFolder;
let database: TestDatabase;
let fleet: Fleet;

beforeAll(async () => {
  folder = await makeWorkFolder({
    chain: `
nodes:
  a: { handler: echo, params: { n: 1 }, next: b }
  b: { handler: echo, params: { n: "{{ nodes.a.output.echoed_params.n }}" } }
outputs: { n: "{{ nodes.b.output.echoed_params.n }}" }`,
    wide: `
nodes:
  split: { type: fan_out, source: "{{ inputs.items }}", task: { handler: echo, params: { n: "{{ item }}" } }, next: join }
  join: { type: fan_in }
outputs: { count: "{{ nodes.join.output.count }}" }`,
    slow: "nodes: { nap: { handler: sleep, params: { seconds: 1 } } }",
  });
});
afterAll(() => folder.remove());
beforeEach(async () => {
  database = await createTestDatabase();
  fleet = new Fleet(database.url, folder.path);
});
afterEach(async () => {
  await fleet.stop();
  await database.drop();
});

async function serverRow() {
  const { rows } = await database.db.query<{ address: string; key: string }>(
    `SELECT address, key FROM dagapp.dag_push_servers`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error("there is no push server");
  const [host = "", port = ""] = row.address.split(":");
  return { host, port: Number(port), key: row.key };
}

describe("a connected worker", () => {
  it("gets its tasks pushed and pushes its reports, past the queue", async () => {
    const orchestrator = await fleet.orchestrator();
    await fleet.worker();
    await connected(orchestrator);
    const before = await counted(orchestrator);
    const job = await finished(orchestrator, await submit(orchestrator, "chain"));
    expect(job).toMatchObject({ status: "completed", result_data: { n: 1 } });
    const after = await counted(orchestrator);
    expect(after.pushed - before.pushed).toBe(2);
    expect(after.reported - before.reported).toBe(2);
    await expectInvariants(database.db);
  });

  it("gets what exceeds its credit from the queue", async () => {
    const orchestrator = await fleet.orchestrator();
    await fleet.worker({ WORKER_CONCURRENCY: "3" });
    await connected(orchestrator);
    const items = Array.from({ length: 500 }, (_, n) => n);
    const job = await finished(orchestrator, await submit(orchestrator, "wide", { items }));
    expect(job).toMatchObject({ status: "completed", result_data: { count: 500 } });
    await expectInvariants(database.db);
  });

  it("shares a fan-out with a second one, and no report comes too late or twice", async () => {
    // A lease must not run out on a busy machine: that would be no fault of ours.
    const orchestrator = await fleet.orchestrator({ LEASE_SEC: "60" });
    const workers = [await fleet.worker(), await fleet.worker()];
    await connected(orchestrator);
    const items = Array.from({ length: 3000 }, (_, n) => n);
    const job = await finished(orchestrator, await submit(orchestrator, "wide", { items }));
    expect(job).toMatchObject({ status: "completed", result_data: { count: 3000 } });
    // Both had a part in it, and no child was run twice.
    const { rows: shares } = await database.db.query<{ tasks: number }>(
      `SELECT count(*)::int AS tasks FROM dagapp.dag_attempts WHERE job_id = $1 GROUP BY worker_id`,
      [job.job_id],
    );
    expect(shares.length).toBe(2);
    expect(shares.reduce((sum, { tasks }) => sum + tasks, 0)).toBe(3000);
    const { rows: ignored } = await database.db.query(
      `SELECT FROM dagapp.dag_unpacked_events WHERE event_type = 'result_ignored'`,
    );
    expect(ignored.length).toBe(0);
    for (const program of [orchestrator, ...workers]) {
      expect(program.output()).not.toMatch(/too late|not reported|could not be/);
    }
    await expectInvariants(database.db);
  });

  it("that may not connect works through the database", async () => {
    const orchestrator = await fleet.orchestrator();
    await fleet.worker({ WORKER_LINKS: "false" });
    const job = await finished(orchestrator, await submit(orchestrator, "chain"));
    expect(job.status).toBe("completed");
    expect(await counted(orchestrator)).toEqual({ pushed: 0, reported: 0 });
  });

  it("goes on when its orchestrator dies, and finds the next one", async () => {
    const first = await fleet.orchestrator();
    await fleet.worker();
    await connected(first);
    const id = await submit(first, "slow");
    first.signal("SIGKILL");
    const second = await fleet.orchestrator();
    expect((await finished(second, id)).status).toBe("completed");
    await connected(second);
    const { rows } = await database.db.query(`SELECT FROM dagapp.dag_attempts WHERE job_id = $1`, [
      id,
    ]);
    expect(rows.length).toBe(1);
    await expectInvariants(database.db);
  });

  it("that stops releases what was pushed to it last", async () => {
    const orchestrator = await fleet.orchestrator();
    const leaving = await fleet.worker({ WORKER_CONCURRENCY: "2", WORKER_SHUTDOWN_SECONDS: "0.2" });
    await connected(orchestrator);
    const ids = [];
    for (let n = 0; n < 4; n++) ids.push(await submit(orchestrator, "slow"));
    leaving.signal("SIGTERM");
    expect(await leaving.gone).toBe(0);
    const { rows } = await database.db.query(`SELECT FROM dagapp.dag_queue_leases`);
    expect(rows.length).toBe(0);
    await fleet.worker();
    for (const id of ids) expect((await finished(orchestrator, id)).status).toBe("completed");
    await expectInvariants(database.db);
  });
});

describe("the push server", () => {
  /**
   * Opens a connection with this key, sends these lines after both proofs, and answers what came behind them
   * until that word. `proves`: the server has proved that it knows the key.
   */
  async function knock(
    lines: readonly unknown[],
    { key, until = "\0" }: { key?: string; until?: string } = {},
  ): Promise<{ received: string; proves: boolean }> {
    const server = await serverRow();
    const secret = Buffer.from(key ?? server.key, "hex");
    const socket = openSocket({ host: server.host, port: server.port });
    const ofWorker = "12".repeat(32);
    const proof = (side: string, ofServer: string) =>
      createHmac("sha256", secret)
        .update(JSON.stringify(["push", side, ofWorker, ofServer, "stranger"]))
        .digest("hex");
    let received = "";
    let welcome: { nonce: string; proof: string } | undefined;
    socket.setEncoding("utf8");
    socket.on("error", () => undefined);
    socket.write(`${JSON.stringify({ worker: "stranger", nonce: ofWorker })}\n`);
    socket.on("data", (piece: string) => {
      received += piece;
      if (welcome === undefined && received.includes("\n")) {
        const end = received.indexOf("\n") + 1;
        welcome = JSON.parse(received.slice(0, end)) as { nonce: string; proof: string };
        received = received.slice(end);
        for (const line of [{ proof: proof("worker", welcome.nonce) }, ...lines]) {
          socket.write(`${typeof line === "string" ? line : JSON.stringify(line)}\n`);
        }
      }
      if (received.includes(until)) socket.destroy();
    });
    await once(socket, "close");
    return { received, proves: welcome?.proof === proof("server", welcome?.nonce ?? "") };
  }

  it("listens on the loopback address, unless it is configured otherwise", async () => {
    await fleet.orchestrator();
    expect((await serverRow()).host).toBe("127.0.0.1");
  });

  it("stops although a client has connected and never begins its handshake", async () => {
    const orchestrator = await fleet.orchestrator();
    const { host, port } = await serverRow();
    const silent = openSocket({ host, port });
    await once(silent, "connect");
    const ended = once(silent, "close");
    orchestrator.signal("SIGTERM");
    expect(await orchestrator.gone).toBe(0);
    expect(orchestrator.output()).not.toContain("still stopping");
    await ended;
  });

  it("refuses a client without the key, and closes on lines that it cannot read", async () => {
    const orchestrator = await fleet.orchestrator();
    const credit = { credit: { "functionapp-tasks": 1 } };
    const wrong = await knock([credit], { key: "ab".repeat(32) });
    expect(wrong).toEqual({ received: "", proves: false });
    const { host, port } = await serverRow();
    const plain = openSocket({ host, port });
    plain.on("error", () => undefined);
    const answered: Buffer[] = [];
    plain.on("data", (bytes: Buffer) => answered.push(bytes));
    plain.write(`${JSON.stringify(credit)}\n`);
    await once(plain, "close");
    expect(Buffer.concat(answered).toString()).toBe("");
    await knock(["x".repeat(2000)]);
    await knock([{ credit: { "functionapp-tasks": -1 } }]);
    await knock([{ reports: [{ task_id: 7 }] }]);
    await fleet.worker();
    await connected(orchestrator);
  });

  it("records no report whose message is not held", async () => {
    const orchestrator = await fleet.orchestrator();
    const job_id = await submit(orchestrator, "slow");
    const report = {
      task_id: `${job_id}_nap_0`,
      job_id,
      node_id: "nap",
      lease: { message_id: 1, deliveries: 9 },
      leased_at: null,
      status: "completed",
      output: "{}",
      error: null,
    };
    const answer = await knock([{ reports: [report] }], { until: "refused" });
    expect(answer).toEqual({ received: `{"refused":[1]}\n`, proves: true });
    const { rows } = await database.db.query(`SELECT FROM dagapp.dag_attempts`);
    expect(rows.length).toBe(0);
  });

  it("that is not the one in the database gets nothing, and its task is not run", async () => {
    const heard: string[] = [];
    const task = { queue: "functionapp-tasks", messages: [{ message_id: 1, body: "{}" }] };
    const impostor: Server = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.on("data", (bytes) => heard.push(bytes.toString("latin1")));
      socket.write(`${JSON.stringify(task)}\n`);
    });
    await new Promise<void>((resolve) => impostor.listen(0, "127.0.0.1", resolve));
    const { port } = impostor.address() as { port: number };
    const { hostname } = await import("node:os");
    await database.db.query(
      `INSERT INTO dagapp.dag_push_servers (holder, host, address, key) VALUES ($1, $2, $3, $4)`,
      ["dead", hostname(), `127.0.0.1:${port}`, "cd".repeat(32)],
    );
    const worker = await fleet.worker();
    const orchestrator = await fleet.orchestrator();
    await connected(orchestrator);
    expect(heard.length).toBeGreaterThan(0);
    expect(heard.join("")).not.toContain("credit");
    expect(worker.output()).not.toContain("InvalidMessage");
    await new Promise((resolve) => impostor.close(resolve));
  });
});
