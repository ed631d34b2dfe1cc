/** Workers on the orchestrator's own machine: tasks are handed to them, and results told back. */
import { connect } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { prove } from "../../src/adapters/net/link-proof.ts";
import { expectInvariants } from "../support/chaos-invariants.ts";
import type { TestDatabase } from "../support/database.ts";
import { createTestDatabase } from "../support/database.ts";
import { counted, linked } from "../support/links.ts";
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

async function linkRow() {
  const { rows } = await database.db.query<{ link_address: string; link_key: string }>(
    `SELECT link_address, link_key FROM dagapp.dag_orchestrators`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error("there is no orchestrator");
  const [host = "", port = ""] = row.link_address.split(":");
  return { host, port: Number(port), key: row.link_key };
}

describe("a linked worker", () => {
  it("is handed what it waits for and tells what it did, and nothing lies in a queue", async () => {
    const orchestrator = await fleet.orchestrator();
    await fleet.worker();
    await linked(orchestrator);
    const before = await counted(orchestrator);
    const job = await finished(orchestrator, await submit(orchestrator, "chain"));
    expect(job).toMatchObject({ status: "completed", result_data: { n: 1 } });
    const after = await counted(orchestrator);
    expect(after.handed - before.handed).toBe(2);
    expect(after.told - before.told).toBe(2);
    await expectInvariants(database.db);
  });

  it("gets more than it waits for from the queue", async () => {
    const orchestrator = await fleet.orchestrator();
    await fleet.worker({ WORKER_CONCURRENCY: "3" });
    await linked(orchestrator);
    const items = Array.from({ length: 500 }, (_, n) => n);
    const job = await finished(orchestrator, await submit(orchestrator, "wide", { items }));
    expect(job).toMatchObject({ status: "completed", result_data: { count: 500 } });
    await expectInvariants(database.db);
  });

  it("that may not link works through the database", async () => {
    const orchestrator = await fleet.orchestrator();
    await fleet.worker({ WORKER_LINKS: "false" });
    const job = await finished(orchestrator, await submit(orchestrator, "chain"));
    expect(job.status).toBe("completed");
    expect(await counted(orchestrator)).toEqual({ handed: 0, told: 0 });
  });

  it("goes on when its orchestrator dies, and finds the next one", async () => {
    const first = await fleet.orchestrator();
    await fleet.worker();
    await linked(first);
    const id = await submit(first, "slow");
    first.signal("SIGKILL");
    const second = await fleet.orchestrator();
    expect((await finished(second, id)).status).toBe("completed");
    await linked(second);
    const { rows } = await database.db.query(
      `SELECT FROM dagapp.dag_task_results WHERE job_id = $1`,
      [id],
    );
    expect(rows.length).toBe(1);
    await expectInvariants(database.db);
  });

  it("that stops gives back what it was handed last", async () => {
    const orchestrator = await fleet.orchestrator();
    const leaving = await fleet.worker({ WORKER_CONCURRENCY: "2", WORKER_SHUTDOWN_SECONDS: "0.2" });
    await linked(orchestrator);
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

describe("the door for workers", () => {
  /** Says these lines after the nonce; answers what it heard until that word, or until it closed. */
  async function knock(
    lines: (nonce: string, key: string) => readonly string[],
    until = "\0",
  ): Promise<string> {
    const { host, port, key } = await linkRow();
    const socket = connect({ host, port });
    let heard = "";
    socket.setEncoding("utf8");
    socket.on("data", (piece: string) => {
      const isFirst = heard === "";
      heard += piece;
      if (heard.includes(until)) socket.destroy();
      if (!isFirst) return;
      const { nonce } = JSON.parse(heard) as { nonce: string };
      for (const line of lines(nonce, key)) socket.write(`${line}\n`);
    });
    await new Promise((resolve) => socket.once("close", resolve));
    return heard;
  }

  it("is open to this machine only, unless it is told otherwise", async () => {
    await fleet.orchestrator();
    expect((await linkRow()).host).toBe("127.0.0.1");
  });

  it("is closed to whoever does not know the key, and to what is not understood", async () => {
    const orchestrator = await fleet.orchestrator();
    const wrong = await knock((nonce) => [
      JSON.stringify({ worker: "stranger", proof: prove("guessed", nonce) }),
      JSON.stringify({ grants: { "functionapp-tasks": 1 } }),
    ]);
    expect(wrong.split("\n").length).toBe(2);
    await knock(() => ["x".repeat(2000)]);
    await knock(() => ["{}"]);
    await knock((nonce, key) => [
      JSON.stringify({ worker: "confused", proof: prove(key, nonce) }),
      JSON.stringify({ told: [{ task_id: 7 }] }),
    ]);
    await fleet.worker();
    await linked(orchestrator);
  });

  it("believes no result whose lease is not held", async () => {
    const orchestrator = await fleet.orchestrator();
    const job_id = await submit(orchestrator, "slow");
    const heard = await knock((nonce, key) => {
      const lease = { message_id: 1, deliveries: 9 };
      const result = { task_id: `${job_id}_nap_0`, job_id, node_id: "nap" };
      const told = [{ ...result, lease, status: "completed", output: "{}", error: null }];
      return [
        JSON.stringify({ worker: "liar", proof: prove(key, nonce) }),
        JSON.stringify({ told }),
      ];
    }, "settled");
    expect(heard.split("\n")[1]).toBe(`{"settled":"l"}`);
    const { rows } = await database.db.query(`SELECT FROM dagapp.dag_task_results`);
    expect(rows.length).toBe(0);
  });
});
