import { spawn } from "node:child_process";
import { open, readFile, rename, stat } from "node:fs/promises";
import { createServer } from "node:net";
import path from "node:path";
import { serverEnvironment, withReachableFolder } from "./run-as-account.ts";
import type { Account } from "./run-as-account.ts";
import type { Binaries } from "./find-binaries.ts";
import type { Layout } from "./layout.ts";

export interface ServerProcess {
  readonly pid: number | undefined;
  /** Set when the server has ended: its log lines since the start. */
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
  const port = await choosePort(layout);
  await rotateLog(layout.log);
  // The server inherits the open file, so its account needs no access to the log's folder.
  const log = await open(layout.log, "a+", 0o600);
  const logStart = (await log.stat()).size;
  const server: { pid: number | undefined; ended: string | undefined } = {
    pid: undefined,
    ended: undefined,
  };
  const onEnd = (reason: string) => {
    // The folder may have been deleted hours later; the output is needed only during the start.
    void readFrom(layout.log, logStart)
      .catch(() => "")
      .then((output) => (server.ended = output + reason));
  };
  await withReachableFolder(account, layout.cluster, ({ folder, descriptors }) => {
    const child = spawn(
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
        // In its own session, the server gets no Ctrl-C of the terminal: this process stops it.
        detached: true,
        stdio: ["ignore", log.fd, log.fd, ...descriptors],
      },
    );
    // Before anything is awaited: a server that refuses its settings ends within milliseconds.
    child.on("error", (error) => {
      onEnd(error.message);
    });
    child.on("exit", () => {
      onEnd("");
    });
    child.unref();
    server.pid = child.pid;
    return Promise.resolve();
  });
  await log.close();
  return server;
}

function settings(port: number, binaries: Binaries, sync: boolean): string[] {
  return [
    `port=${port}`,
    "listen_addresses=127.0.0.1",
    // No Unix socket: it would need a folder that every account can enter. TCP has a password.
    "unix_socket_directories=",
    "max_connections=200",
    "shared_buffers=128MB",
    // Our statements are short: compiling one takes longer than running it.
    "jit=off",
    "timezone=UTC",
    "log_timezone=UTC",
    "log_line_prefix=%m [%p] %a ",
    // A process that attaches to the server reads here where its programs came from.
    `rmhdag.source=${binaries.source}`,
    ...(sync ? [] : ["fsync=off", "full_page_writes=off", "synchronous_commit=off"]),
  ];
}

/**
 * The port of the last start, as PostgreSQL notes it: programs that lost their connections find the
 * server again. Another port if that one is taken.
 */
async function choosePort(layout: Layout): Promise<number> {
  const options = await readFile(path.join(layout.data, "postmaster.opts"), "utf8").catch(() => "");
  const last = Number(/"port=(\d+)"/.exec(options)?.[1] ?? 0);
  return last === 0 ? freePort(0) : freePort(last).catch(() => freePort(0));
}

/**
 * Another program can take the port before the server does: the server ends, and is started again.
 */
function freePort(wanted: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.on("error", reject);
    probe.listen(wanted, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => {
        if (address !== null && typeof address === "object") resolve(address.port);
        else reject(new Error("The operating system assigned no port."));
      });
    });
  });
}

async function rotateLog(log: string): Promise<void> {
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
