import { writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, it } from "vitest";
import { createTestDatabase } from "../../../test/support/database.ts";
import { temporaryFolders } from "../../../test/support/embedded.ts";
import { TestEngine } from "../../../test/support/engine.ts";
import { waitFor } from "../../../test/support/wait.ts";
import type { Connection } from "../../adapters/broker/postgres-broker/push/connections.ts";
import type { LeasedMessage } from "../../adapters/broker/postgres-broker/sql/message-columns.ts";
import type { TaskMessage } from "../../core/messages.ts";
import { createArrivals } from "./settle-arrivals.ts";
import { tick } from "./tick.ts";

const pair = `nodes:
  one: { handler: echo }
  two: { handler: echo }`;
const others = 60;

it("settles other jobs while a job waits for its commit, and its further reports after it", async () => {
  const folders = temporaryFolders();
  const database = await createTestDatabase();
  const folder = await folders.make();
  await writeFile(path.join(folder, "pair.yaml"), pair);
  const engine = await TestEngine.create(database, folder);
  await engine.tick();

  const pushed: LeasedMessage[] = [];
  const recorded = new Set<number>();
  const refused: number[] = [];
  const credit = new Map([["functionapp-tasks", 1000]]);
  const connection: Connection = {
    workerId: "worker",
    credit,
    send: (line) => {
      if ("messages" in line) pushed.push(...line.messages);
      if ("recorded" in line) for (const id of line.recorded) recorded.add(id);
      if ("refused" in line) refused.push(...line.refused);
      return true;
    },
  };
  engine.connections.add(connection);
  const settle = async (reports: Parameters<typeof tick>[1]) => {
    await tick(engine.deps, reports);
  };
  const arrivals = createArrivals(engine.connections, settle, () => {
    arrivals.startTicks();
  });

  function report(messages: readonly LeasedMessage[]): void {
    const reports = messages.map(({ body, message_id, deliveries, leased_at }) => {
      const { job_id, node_id, task_id } = JSON.parse(body) as TaskMessage;
      const lease = { message_id, deliveries };
      const outcome = { status: "completed" as const, output: '{"n":1}', error: null };
      return { job_id, node_id, task_id, lease, leased_at, ...outcome };
    });
    engine.connections.receive(connection, { reports });
    arrivals.startTicks();
  }
  const idsOf = (messages: readonly LeasedMessage[]) => messages.map((each) => each.message_id);

  const slow = await engine.submit("pair");
  const jobs = [slow.job_id];
  for (let at = 0; at < others; at++) jobs.push((await engine.submit("pair")).job_id);
  await waitFor(() => pushed.length === 2 * jobs.length, { what: "all messages" });
  const ofSlow = pushed.filter(({ body }) => body.includes(slow.job_id));
  const ofOthers = pushed.filter(({ body }) => !body.includes(slow.job_id));

  await database.db.transaction(async (tx) => {
    await tx.query("SELECT FROM dagapp.dag_jobs WHERE job_id = $1 FOR UPDATE", [slow.job_id]);
    report(ofSlow.slice(0, 1));
    report([...ofSlow.slice(1), ...ofOthers]);
    await waitFor(() => recorded.size > 0, { what: "the second tick" });
    expect([...recorded].toSorted((a, b) => a - b)).toEqual(idsOf(ofOthers));
  });
  await waitFor(() => recorded.size === pushed.length, { what: "the reports that had waited" });
  await arrivals.idle();
  expect(refused).toEqual([]);
  for (const job of jobs) expect((await engine.expectReplay(job)).status).toBe("completed");

  await engine.close();
  await database.drop();
  await folders.remove();
});
