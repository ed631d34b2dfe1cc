/** Redis for BullMQ: Debian's own, durable as its documentation advises (AOF, synced every second). */
import { execFileSync, spawn } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { connect } from "node:net";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { freePort } from "./free-port.js";

/** Undefined when there is none and none can be installed: then its column says so. */
export async function startRedis(folder, say) {
  if (!isInstalled() && !install(say)) return undefined;
  const data = path.join(folder, "redis");
  await mkdir(data);
  const port = await freePort();
  const persistence = ["--appendonly", "yes", "--appendfsync", "everysec", "--save", ""];
  const server = spawn(
    "redis-server",
    ["--port", String(port), "--bind", "127.0.0.1", "--dir", data, ...persistence],
    { stdio: "ignore", detached: true },
  );
  const ended = new Promise((resolve) => server.once("exit", resolve));
  const abandon = () => server.kill("SIGKILL");
  process.once("exit", abandon);
  const ask = (command) => talk(port, command);
  while ((await ask("PING").catch(() => "")) !== "+PONG") await pause(20);
  const info = await ask("INFO server");
  return {
    url: `redis://127.0.0.1:${port}`,
    pid: server.pid,
    version: /redis_version:(\S+)/.exec(info)?.[1],
    flush: () => ask("FLUSHALL"),
    async stop() {
      process.off("exit", abandon);
      server.kill("SIGTERM");
      await ended;
    },
  };
}

function isInstalled() {
  try {
    execFileSync("redis-server", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

function install(say) {
  if (process.geteuid?.() !== 0) return false;
  say("installing redis-server with apt-get");
  try {
    execFileSync("apt-get", ["install", "-y", "--no-install-recommends", "redis-server"], {
      stdio: "ignore",
    });
  } catch {
    return false;
  }
  return isInstalled();
}

/** One inline command, and the first answer to it. */
function talk(port, command) {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(`${command}\r\n`));
    socket.once("error", reject);
    socket.once("data", (answer) => {
      socket.destroy();
      resolve(answer.toString("utf8").trim());
    });
  });
}
