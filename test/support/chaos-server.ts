import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { migrate } from "../../src/adapters/postgres/migrate.ts";
import { layoutOf } from "../../src/adapters/embedded-postgres/layout.ts";
import { keepRunning } from "../../src/adapters/embedded-postgres/keep-running.ts";
import { startEmbeddedPostgres } from "../../src/adapters/embedded-postgres/start-embedded-postgres.ts";
import type { ChaosProxy } from "./chaos-proxy.ts";
import { startChaosProxy } from "./chaos-proxy.ts";
import { waitFor } from "./wait.ts";

/** A PostgreSQL of a test's own, with fsync, that can be crashed and started again. */
export interface ChaosServer {
  /** Through a proxy, because the server has another port after each start. */
  readonly url: string;
  readonly proxy: ChaosProxy;
  /** Shuts down immediately: sessions are cut and nothing more is flushed. */
  crash(): Promise<void>;
  start(): Promise<void>;
  /** Kills the server; it is started again as `rmhdag up` does it. */
  die(): Promise<void>;
  stop(): Promise<void>;
}

export async function startChaosServer(): Promise<ChaosServer> {
  const dataDirectory = await mkdtemp(path.join(tmpdir(), "rmhdag-chaos-"));
  const options = { dataDirectory, prefer: "npm" } as const;
  let server = await startEmbeddedPostgres(options);
  await migrate(server.url);
  const proxy = await startChaosProxy(server.url);
  const pidFile = path.join(layoutOf(dataDirectory).data, "postmaster.pid");
  async function end(signal: NodeJS.Signals): Promise<void> {
    const pid = Number((await readFile(pidFile, "utf8")).split("\n")[0]);
    // kill(0) and kill(-1) would reach other processes.
    if (!(pid > 1)) throw new Error("the server's pid is not known");
    process.kill(pid, signal);
    await waitFor(() => !isAlive(pid), { timeoutMs: 20_000, what: "the server to be gone" });
  }

  return {
    url: proxy.url,
    proxy,
    async crash() {
      await end("SIGQUIT");
      proxy.cut();
    },
    async die() {
      const said: string[] = [];
      const keeper = keepRunning(await startEmbeddedPostgres(options), {
        ...options,
        say: (line) => said.push(line),
        onMoved: (reason) => said.push(reason),
      });
      await end("SIGKILL");
      await waitFor(() => said.includes("the database runs again"), {
        timeoutMs: 60_000,
        what: "the server to be started again",
      });
      // An owner must be there before the others release the server, or it stops.
      const old = server;
      server = await startEmbeddedPostgres(options);
      proxy.moveTo(server.url);
      await keeper.stop();
      await old.stop();
    },
    async start() {
      server = await startEmbeddedPostgres(options);
      proxy.moveTo(server.url);
    },
    async stop() {
      await proxy.close();
      await server.stop();
      await rm(dataDirectory, { recursive: true, force: true });
    },
  };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
