/** A RabbitMQ server of the benchmark's own: Debian's, in a folder, on free ports. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { connect } from "amqplib";
import { freePort } from "./free-port.js";

const program = "/usr/lib/rabbitmq/bin/rabbitmq-server";

/** Undefined where it is not installed: then its figures are left out. */
export async function startRabbitmq(parent) {
  if (!existsSync(program)) return undefined;
  const folder = path.join(parent, "rabbitmq");
  await mkdir(folder);
  const [port, distPort, epmdPort] = [await freePort(), await freePort(), await freePort()];
  const file = (name) => path.join(folder, name);
  await writeFile(file("rabbitmq.conf"), "loopback_users = none\nlog.file.level = warning\n");
  await writeFile(file("enabled_plugins"), "[].\n");
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    LANG: "C.UTF-8",
    RABBITMQ_NODENAME: `bench-${port}@localhost`,
    RABBITMQ_NODE_IP_ADDRESS: "127.0.0.1",
    RABBITMQ_NODE_PORT: String(port),
    RABBITMQ_DIST_PORT: String(distPort),
    RABBITMQ_MNESIA_BASE: file("data"),
    RABBITMQ_LOG_BASE: file("log"),
    RABBITMQ_PID_FILE: file("pid"),
    RABBITMQ_CONFIG_FILE: file("rabbitmq.conf"),
    RABBITMQ_ENABLED_PLUGINS_FILE: file("enabled_plugins"),
    RABBITMQ_CONF_ENV_FILE: file("none"),
    ERL_EPMD_PORT: String(epmdPort),
    ERL_EPMD_ADDRESS: "127.0.0.1",
  };
  // A group of its own: the script starts the server as a child.
  const child = spawn(program, [], { env, cwd: folder, detached: true, stdio: "ignore" });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const abandon = () => process.kill(-child.pid, "SIGKILL");
  process.once("exit", abandon);
  const url = `amqp://guest:guest@127.0.0.1:${port}`;
  for (;;) {
    const connection = await connect(url).catch(() => undefined);
    await connection?.close();
    if (connection !== undefined) break;
    if (child.exitCode !== null) throw new Error("RabbitMQ ended while starting");
    await pause(200);
  }
  return {
    url,
    async stop() {
      process.off("exit", abandon);
      abandon();
      await ended;
      spawn("epmd", ["-port", String(epmdPort), "-kill"], { env, stdio: "ignore" });
    },
  };
}
