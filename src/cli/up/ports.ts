import { once } from "node:events";
import { createServer } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { Client } from "../../core/api/client.ts";
import { errorCode } from "../../adapters/runtime/error-code.ts";
import { Failure } from "../common/failure.ts";

/** Checks that a port is free before any program is started; 0 finds a free one. */
export async function findPort(host: string, port: number, option = "--port"): Promise<number> {
  const server = createServer();
  try {
    server.listen({ host, port, exclusive: true });
    await once(server, "listening");
    const address = server.address();
    return typeof address === "object" && address !== null ? address.port : port;
  } catch (error) {
    throw refuse(host, port, option, error);
  } finally {
    server.close();
  }
}

function refuse(host: string, port: number, option: string, error: unknown): unknown {
  switch (errorCode(error)) {
    case "EADDRINUSE":
      return new Failure(
        `Port ${port} is in use, perhaps by another \`rmhdag up\`: ` +
          `stop it, or choose another port with ${option} (0 takes any free port).`,
      );
    case "EACCES":
      return new Failure(
        `This user may not listen on port ${port}: choose one above 1023 with ${option}.`,
      );
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return new Failure(`This machine has no address ${host}: choose another with --host.`);
    default:
      return error;
  }
}

const roundMs = 50;
const longestWaitMs = 30_000;

/** Waits until a program answers /readyz with 200. Its log lines are printed in the meantime. */
export async function waitUntilReady(url: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const isReady = await fetch(`${url}/readyz`, { signal }).then(
      async (answer) => {
        await answer.arrayBuffer();
        return answer.ok;
      },
      () => false,
    );
    if (isReady) return;
    await pause(roundMs, undefined, { signal });
  }
}

/** Waits until so many workers have registered; a worker that cannot start must not hide the others. */
export async function waitForWorkers(
  client: Pick<Client, "listWorkers">,
  count: number,
  signal: AbortSignal,
): Promise<void> {
  for (let waitedMs = 0; waitedMs < longestWaitMs; waitedMs += roundMs) {
    const { items } = await client.listWorkers();
    if (items.filter(({ alive }) => alive).length >= count) return;
    await pause(roundMs, undefined, { signal });
  }
}
