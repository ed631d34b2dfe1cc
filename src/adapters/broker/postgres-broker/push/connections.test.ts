import { describe, expect, it } from "vitest";
import type { Connection } from "./connections.ts";
import { PushConnections } from "./connections.ts";
import type { FromServer } from "./protocol.ts";

function setUp() {
  const released: number[] = [];
  let wakes = 0;
  const connections = new PushConnections((leases) => {
    released.push(...leases.map(({ message_id }) => message_id));
  });
  connections.onArrival(() => (wakes += 1));
  const join = (workerId: string, credit: Record<string, number> = {}) => {
    const received: FromServer[] = [];
    const connection: Connection & { isGone: boolean } = {
      workerId,
      credit: new Map(),
      isGone: false,
      send: (line) => {
        if (!connection.isGone) received.push(line);
        return !connection.isGone;
      },
    };
    connections.add(connection);
    connections.receive(connection, { credit });
    return { connection, received };
  };
  return { connections, join, released, wakes: () => wakes };
}

const report = (message_id: number) => ({
  lease: { message_id, deliveries: 1 },
  leased_at: null,
  task_id: `t${message_id}`,
  job_id: "j",
  node_id: "n",
  status: "completed" as const,
  output: "{}",
  error: null,
});
const message = (message_id: number) => ({
  message_id,
  priority: 0,
  deliveries: 1,
  released: 0,
  lost: 0,
  message_key: `t${message_id}`,
  headers: null,
  body: "{}",
  leased_at: "2026-01-01 00:00:00+00",
});
const shares = (reserved: readonly { connection: Connection; count: number }[]) =>
  Object.fromEntries(reserved.map(({ connection, count }) => [connection.workerId, count]));

describe("messages for connected workers", () => {
  it("are spread over the workers with credit, and never exceed it", () => {
    const { connections, join } = setUp();
    join("one", { q: 1 });
    join("many", { q: 10 });
    join("other", { else: 10 });
    expect(shares(connections.reserve("q", 4))).toEqual({ one: 1, many: 3 });
    expect(shares(connections.reserve("q", 100))).toEqual({ many: 7 });
    expect(shares(connections.reserve("q", 1))).toEqual({});
  });

  it("return their credit when the transaction is rolled back", () => {
    const { connections, join } = setUp();
    join("one", { q: 2 });
    connections.unreserve("q", connections.reserve("q", 2));
    expect(shares(connections.reserve("q", 5))).toEqual({ one: 2 });
  });

  it("are released when the worker is gone", () => {
    const { connections, join, released } = setUp();
    const { connection, received } = join("one", { q: 2 });
    connections.push("q", connection, [message(1)]);
    connection.isGone = true;
    connections.push("q", connection, [message(2)]);
    expect(received).toEqual([{ queue: "q", messages: [message(1)] }]);
    expect(released).toEqual([2]);
    expect(connections.counters.pushed).toBe(1);
  });

  it("end for a queue that the worker has stopped, while its reports are still taken", () => {
    const { connections, join, wakes } = setUp();
    const { connection, received } = join("one", { q: 2, other: 1 });
    connections.receive(connection, { stop: "q" });
    expect(received).toEqual([{ stopped: "q" }]);
    expect(connections.reserve("q", 1)).toEqual([]);
    expect(shares(connections.reserve("other", 1))).toEqual({ one: 1 });
    connections.receive(connection, { reports: [report(1)] });
    expect(wakes()).toBe(1);
    expect(connections.take(10)).toMatchObject([{ task_id: "t1", worker_id: "one" }]);
  });
});

describe("pushed reports", () => {
  it("that are refused are answered to the worker that sent each", () => {
    const { connections, join } = setUp();
    const [one, two] = [join("one"), join("two")];
    connections.receive(one.connection, { reports: [report(1), report(2)] });
    connections.receive(two.connection, { reports: [report(3)] });
    connections.refuse(connections.take(3).filter(({ task_id }) => task_id !== "t1"));
    expect(one.received).toEqual([{ refused: [2] }]);
    expect(two.received).toEqual([{ refused: [3] }]);
  });

  it("are dropped with the connection: its worker writes them to the database", () => {
    const { connections, join } = setUp();
    const { connection } = join("one");
    connections.receive(connection, { reports: [report(1)] });
    connections.remove(connection);
    expect(connections.take(10)).toEqual([]);
  });
});
