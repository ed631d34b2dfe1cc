import { randomBytes } from "node:crypto";
import type { AddressInfo } from "node:net";
import { createServer } from "node:tls";
import { expect, it } from "vitest";
import { openConnection } from "./connection.ts";
import type { FromClient } from "./protocol.ts";
import { createLineReader, tlsOptions } from "./protocol.ts";

/** A lease that was lost can be taken again by the same worker, while its first report is on its way. */
it("answers both reports of a message that came twice", async () => {
  const key = randomBytes(32);
  const server = createServer({ ...tlsOptions, pskCallback: () => key }, (socket) => {
    const read = createLineReader((line) => {
      const { reports = [] } = JSON.parse(line) as FromClient;
      const recorded = reports.slice(-1).map(({ lease }) => lease.message_id);
      socket.write(`${JSON.stringify({ recorded })}\n`);
    });
    socket.setEncoding("utf8").on("data", (piece: string) => read(piece));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  let opened: () => void = () => undefined;
  const open = new Promise<void>((resolve) => (opened = resolve));
  const connection = openConnection(
    { address: `127.0.0.1:${port}`, key: key.toString("hex"), workerId: "worker" },
    { onOpen: opened, onMessages: () => undefined, onClose: () => undefined },
  );
  await open;
  const report = (deliveries: number) =>
    connection.report({
      lease: { message_id: 1, deliveries },
      leased_at: null,
      task_id: "job_node_0",
      job_id: "job",
      node_id: "node",
      status: "completed",
      output: "{}",
      error: null,
    });
  expect(await Promise.all([report(1), report(2)])).toEqual(["again", "ok"]);
  connection.close("the test ends");
  await new Promise((resolve) => server.close(resolve));
});
