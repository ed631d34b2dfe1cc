import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";
import { hasErrorCode } from "../../src/adapters/runtime/error-code.ts";

/**
 * A port that no program listens on. It lies below those that systems give to outgoing connections, one of
 * which would otherwise take it while a slow server starts.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 32_000);
    if (await canListen(port)) return port;
  }
}

async function canListen(port: number): Promise<boolean> {
  const server = createServer().listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch (error) {
    if (hasErrorCode(error, "EADDRINUSE")) return false;
    throw error;
  }
  server.close();
  await once(server, "close");
  return true;
}
