import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { Socket } from "node:net";

export interface LostAnswer {
  /** Only on a connection that has said this since its last BEGIN. */
  readonly after?: string;
  /** The request that is carried out while its answer gets lost. */
  readonly at: string;
}

export interface ChaosProxy {
  /** The database's address through this proxy; it stays the same when the server moves. */
  readonly url: string;
  moveTo(databaseUrl: string): void;
  /** The next such request reaches the server, its answer is dropped, and the connection ends. */
  loseAnswer(what: LostAnswer): Promise<void>;
  /** Drops all traffic on connections that have sent this, and keeps them open; answers how many. */
  silence(having: string): number;
  cut(): void;
  close(): Promise<void>;
}

interface Line {
  readonly near: Socket;
  readonly far: Socket;
  /** What was said since BEGIN, and all statements that a session keeps, such as LISTEN. */
  said: string;
  ever: string;
  swallowing: boolean;
  silent: boolean;
}

const readyForQuery = Buffer.from([0x5a, 0, 0, 0, 5]);
const rememberedBytes = 64 * 1024;

/** A proxy before PostgreSQL that reads enough of the protocol to lose a chosen answer. */
export async function startChaosProxy(databaseUrl: string): Promise<ChaosProxy> {
  let target = new URL(databaseUrl);
  const lines = new Set<Line>();
  let trap: (LostAnswer & { readonly sprung: () => void }) | undefined;

  function inspect(line: Line, chunk: Buffer): void {
    const text = chunk.toString("latin1");
    if (text.includes("BEGIN")) line.said = "";
    line.said = (line.said + text).slice(-rememberedBytes);
    if (text.includes("LISTEN")) line.ever += text;
    if (trap === undefined || !text.includes(trap.at)) return;
    if (trap.after !== undefined && !line.said.includes(trap.after)) return;
    line.swallowing = true;
    const { sprung, at } = trap;
    trap = undefined;
    // Statements are pipelined: the answers to those before it come first.
    const done = at === "COMMIT" ? Buffer.from("COMMIT\0") : readyForQuery;
    let answers = Buffer.alloc(0);
    line.far.on("data", (answer: Buffer) => {
      answers = Buffer.concat([answers, answer]);
      if (!answers.includes(done)) return;
      line.near.destroy();
      sprung();
    });
  }

  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    const line: Line = { near, far, said: "", ever: "", swallowing: false, silent: false };
    lines.add(line);
    near.on("data", (chunk) => {
      if (line.silent) return;
      inspect(line, chunk);
      far.write(chunk);
    });
    far.on("data", (chunk) => {
      if (!line.swallowing && !line.silent) near.write(chunk);
    });
    for (const socket of [near, far]) {
      socket.on("error", () => undefined);
      socket.on("close", () => {
        if (line.silent && socket === far) return;
        lines.delete(line);
        near.destroy();
        far.destroy();
      });
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${(server.address() as { port: number }).port}`;
  const cut = () => {
    for (const { near } of lines) near.destroy();
  };
  return {
    url: url.href,
    moveTo(other) {
      target = new URL(other);
    },
    loseAnswer: (what) =>
      new Promise((resolve) => {
        trap = { ...what, sprung: resolve };
      }),
    silence(having) {
      const chosen = [...lines].filter(({ said, ever }) => (ever + said).includes(having));
      for (const line of chosen) line.silent = true;
      return chosen.length;
    },
    cut,
    async close() {
      cut();
      server.close();
      await once(server, "close");
    },
  };
}
