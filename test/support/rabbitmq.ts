/** A RabbitMQ server of the tests' own: in a temporary folder, on free ports, without a service manager. */
import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { connect } from "amqplib";
import { freePort } from "./free-port.ts";
import { waitFor } from "./wait.ts";

/** Not the program on PATH: Debian's is a wrapper that changes the user. */
const program = "/usr/lib/rabbitmq/bin/rabbitmq-server";

/** Why tests with RabbitMQ are skipped; undefined: they run. */
export const noRabbitmq = existsSync(program)
  ? undefined
  : "needs RabbitMQ: apt-get install rabbitmq-server";

export interface RabbitmqServer {
  readonly url: string;
  /** Stops the server without warning, as a crash does; what was confirmed is on its disk. */
  kill(): Promise<void>;
  start(): Promise<void>;
  remove(): Promise<void>;
}

export async function startRabbitmq(): Promise<RabbitmqServer> {
  const folder = await mkdtemp(path.join(tmpdir(), "rmhdag-rabbitmq-"));
  const [port, distPort, epmdPort] = [await freePort(), await freePort(), await freePort()];
  const file = (name: string) => path.join(folder, name);
  await writeFile(file("rabbitmq.conf"), "loopback_users = none\nlog.file.level = warning\n");
  await writeFile(file("enabled_plugins"), "[].\n");
  const env = {
    PATH: process.env["PATH"],
    HOME: folder,
    LANG: "C.UTF-8",
    RABBITMQ_NODENAME: `rmhdag-${port}@localhost`,
    RABBITMQ_NODE_IP_ADDRESS: "127.0.0.1",
    RABBITMQ_NODE_PORT: String(port),
    RABBITMQ_DIST_PORT: String(distPort),
    RABBITMQ_MNESIA_BASE: file("data"),
    RABBITMQ_LOG_BASE: file("log"),
    RABBITMQ_PID_FILE: file("pid"),
    RABBITMQ_CONFIG_FILE: file("rabbitmq.conf"),
    RABBITMQ_ENABLED_PLUGINS_FILE: file("enabled_plugins"),
    RABBITMQ_CONF_ENV_FILE: file("none"),
    // Few threads that do not spin: the tests share the machine.
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: "+S 2:2 +sbwt none +sbwtdcpu none +sbwtdio none",
    ERL_EPMD_PORT: String(epmdPort),
    ERL_EPMD_ADDRESS: "127.0.0.1",
  };
  const url = `amqp://guest:guest@127.0.0.1:${port}`;
  let child: ChildProcess | undefined;
  let output = "";

  async function start(): Promise<void> {
    // A group of its own: the script starts the server as a child.
    child = spawn(program, [], { env, cwd: folder, detached: true, stdio: "pipe" });
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8").on("data", (chunk: string) => (output += chunk));
    }
    const started = child;
    await waitFor(
      async () => {
        if (started.exitCode !== null) throw new Error(`RabbitMQ ended: ${output}`);
        const connection = await connect(url);
        await connection.close();
        return true;
      },
      { what: `RabbitMQ on port ${port}`, timeoutMs: 150_000 },
    );
  }

  async function kill(): Promise<void> {
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    process.kill(-child.pid, "SIGKILL");
    await ended;
  }

  await start();
  return {
    url,
    start,
    kill,
    remove: async () => {
      await kill();
      // The port mapper of Erlang is a daemon of this server's own.
      const stop = spawn("epmd", ["-port", String(epmdPort), "-kill"], { env, stdio: "ignore" });
      await once(stop, "exit");
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
