import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { Socket } from "node:net";

export interface Proxy {
  readonly url: string;
  /** Connections that were made to it since it started. */
  readonly connections: number;
  /** Stops forwarding on all present connections and keeps them open; new ones work. */
  goSilent(): void;
  /** Closes all present connections. */
  cut(): void;
  close(): Promise<void>;
}

/** A TCP proxy before PostgreSQL that can cut connections or stop forwarding. */
export async function startProxy(databaseUrl: string): Promise<Proxy> {
  const target = new URL(databaseUrl);
  const pairs = new Set<readonly [Socket, Socket]>();
  let connections = 0;
  const server = createServer((near) => {
    connections++;
    const far = connect(Number(target.port || "5432"), target.hostname);
    const pair = [near, far] as const;
    pairs.add(pair);
    near.pipe(far);
    far.pipe(near);
    for (const socket of pair) {
      socket.on("error", () => undefined);
      socket.on("close", () => {
        pairs.delete(pair);
        near.destroy();
        far.destroy();
      });
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${port}`;
  const cut = () => {
    for (const [near] of pairs) near.destroy();
  };
  return {
    url: url.href,
    get connections() {
      return connections;
    },
    goSilent() {
      for (const [near, far] of pairs) {
        near.unpipe(far);
        far.unpipe(near);
        near.pause();
        far.pause();
      }
    },
    cut,
    async close() {
      cut();
      server.close();
      await once(server, "close");
    },
  };
}
