import { randomBytes } from "node:crypto";
import type { AddressInfo, Server, Socket } from "node:net";
import { pino } from "pino";
import { afterEach, describe, expect, it } from "vitest";
import { createPushListener } from "./accept.ts";
import type { ClientConnection } from "./connection.ts";
import { openConnection } from "./connection.ts";
import type { FromClient } from "./protocol.ts";

const log = pino({ level: "silent" });
const key = randomBytes(32);
const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function listen(
  host: string,
  onWorker: (socket: Socket, workerId: string) => (line: string) => void,
): Promise<string> {
  const server: Server = createPushListener({ host, key, log, onWorker });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  closing.push(
    () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
      }),
  );
  return `${host}:${(server.address() as AddressInfo).port}`;
}

/** Answers the connection when it is open, or else the reason why it is closed. */
function open(address: string, known = key): Promise<ClientConnection | string> {
  return new Promise((resolve) => {
    const connection = openConnection(
      { address, key: known.toString("hex"), workerId: "wörker 1" },
      {
        onOpen: () => {
          closing.unshift(async () => {
            connection.close("the test ends");
          });
          resolve(connection);
        },
        onMessages: () => undefined,
        onClose: resolve,
      },
    );
  });
}

const report = (deliveries: number) => ({
  lease: { message_id: 1, deliveries },
  leased_at: null,
  task_id: "job_node_0",
  job_id: "job",
  node_id: "node",
  status: "completed" as const,
  output: `{"text":"${"ü".repeat(100_000)}"}`,
  error: null,
});

// A name is not known to be of this machine, so that it is served by TLS.
describe.each(["127.0.0.1", "localhost"])("a connection to %s", (host) => {
  /** A lease that was lost can be taken again by the same worker, while its first report is on its way. */
  it("answers both reports of a message that came twice", async () => {
    const workers: string[] = [];
    const outputs: (string | null)[] = [];
    const address = await listen(host, (socket, workerId) => {
      workers.push(workerId);
      return (line) => {
        const { reports = [] } = JSON.parse(line) as FromClient;
        outputs.push(...reports.map(({ output }) => output));
        const recorded = reports.slice(-1).map(({ lease }) => lease.message_id);
        socket.write(`${JSON.stringify({ recorded })}\n`);
      };
    });
    const connection = (await open(address)) as ClientConnection;
    const answers = await Promise.all([1, 2].map((each) => connection.report(report(each))));
    expect(answers).toEqual(["again", "ok"]);
    expect(workers).toEqual(["wörker 1"]);
    expect(new Set(outputs)).toEqual(new Set([report(1).output]));
  });

  it("does not open for a worker with another key", async () => {
    const workers: string[] = [];
    const address = await listen(host, (_socket, workerId) => {
      workers.push(workerId);
      return () => undefined;
    });
    expect(typeof (await open(address, randomBytes(32)))).toBe("string");
    expect(workers).toEqual([]);
  });
});
