import { spawn } from "node:child_process";
import { open, rename, stat } from "node:fs/promises";
import { createServer } from "node:net";
import path from "node:path";
import type { Account } from "./account.ts";
import type { Binaries } from "./find-binaries.ts";
import type { Layout } from "./layout.ts";
import { withReach } from "./reach.ts";
import { serverEnvironment } from "./run.ts";

export interface ServerProcess {
  readonly pid: number | undefined;
  /** Set when the server ended, with what it said since it was started. */
  ended: string | undefined;
}

const logLimitBytes = 10 * 1024 * 1024;

export interface SpawnOptions {
  readonly account: Account | undefined;
  readonly sync: boolean;
}

export async function spawnServer(
  layout: Layout,
  binaries: Binaries,
  { account, sync }: SpawnOptions,
): Promise<ServerProcess> {
  const port = await freePort();
  await setOldLogAside(layout.log);
  // Opened by us and inherited, so the server's account needs no access to the folder of the log.
  const log = await open(layout.log, "a+", 0o600);
  const logStart = (await log.stat()).size;
  const child = await withReach(account, layout.cluster, async ({ folder, descriptors }) =>
    spawn(
      path.join(binaries.binDirectory, "postgres"),
      [
        "-D",
        `${folder}/data`,
        ...settings(port, binaries, sync).flatMap((setting) => ["-c", setting]),
      ],
      {
        ...account,
        cwd: "/",
        env: serverEnvironment,
        // A session of its own: Ctrl-C in the terminal is for us, and we then stop the server.
        detached: true,
        stdio: ["ignore", log.fd, log.fd, ...descriptors],
      },
    ),
  );
  const server: ServerProcess = { pid: child.pid, ended: undefined };
  const onEnd = (reason: string) => {
    // Hours later the whole folder may be gone, and nobody asks any more.
    void readFrom(layout.log, logStart)
      .catch(() => "")
      .then((said) => (server.ended = said + reason));
  };
  child.on("error", (error) => {
    onEnd(error.message);
  });
  child.on("exit", () => {
    onEnd("");
  });
  child.unref();
  await log.close();
  return server;
}

function settings(port: number, binaries: Binaries, sync: boolean): string[] {
  return [
    `port=${port}`,
    "listen_addresses=127.0.0.1",
    // TCP and a password are enough; a socket would need a folder that every account can reach.
    "unix_socket_directories=",
    "max_connections=200",
    "shared_buffers=128MB",
    // Our statements are short: compiling one costs more than running it.
    "jit=off",
    "timezone=UTC",
    "log_timezone=UTC",
    "log_line_prefix=%m [%p] %a ",
    // Lets a process that attaches say where the server came from.
    `rmhdag.source=${binaries.source}`,
    ...(sync ? [] : ["fsync=off", "full_page_writes=off", "synchronous_commit=off"]),
  ];
}

/**
 * Somebody else can take the port before the server does; the server then ends, and the caller
 * comes back for another one.
 */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.on("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => {
        if (address !== null && typeof address === "object") resolve(address.port);
        else reject(new Error("The system gave no port."));
      });
    });
  });
}

async function setOldLogAside(log: string): Promise<void> {
  const size = (await stat(log).catch(() => undefined))?.size ?? 0;
  if (size > logLimitBytes) await rename(log, `${log}.1`);
}

async function readFrom(log: string, start: number): Promise<string> {
  const file = await open(log, "r");
  try {
    const length = (await file.stat()).size - start;
    const { buffer } = await file.read(Buffer.alloc(Math.max(length, 0)), 0, length, start);
    return buffer.toString("utf8");
  } finally {
    await file.close();
  }
}
