import { once } from "node:events";
import { connect, createServer } from "node:net";

export interface Balancer {
  readonly url: string;
  close(): Promise<void>;
}

/** One address for several servers, of which some may be gone: each connection goes to one of them. */
export async function startBalancer(choose: () => { readonly url: string }): Promise<Balancer> {
  const server = createServer((near) => {
    const { hostname, port } = new URL(choose().url);
    const far = connect(Number(port), hostname);
    near.pipe(far).pipe(near);
    for (const socket of [near, far]) {
      socket.on("error", () => undefined);
      socket.on("close", () => {
        near.destroy();
        far.destroy();
      });
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      server.close();
    },
  };
}
