/** A server that a peer brings: started on a free port, and stopped with the cell. */
import { spawn } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { freePort } from "../harness/free-port.js";

const patienceMs = 60_000;

/** Resolves when `connect` succeeds. */
export async function startServer(program, args, connect, env = {}) {
  const child = spawn(program, args.map(String), {
    env: { ...process.env, ...env },
    stdio: ["ignore", "ignore", "pipe"],
    // A group of its own: some start their server as a child.
    detached: true,
  });
  const kill = (signal) => {
    try {
      process.kill(-child.pid, signal);
    } catch {
      // It is gone already.
    }
  };
  let told = "";
  child.stderr.on("data", (part) => (told = `${told}${part}`.slice(-2000)));
  const ended = new Promise((resolve) => child.once("exit", resolve));
  process.once("exit", () => kill("SIGKILL"));
  const until = performance.now() + patienceMs;
  for (;;) {
    const connected = await Promise.resolve(connect()).then(
      () => true,
      () => false,
    );
    if (connected) break;
    if (child.exitCode !== null)
      throw new Error(`the server ended: ${told.trim().split("\n").at(-1)}`);
    if (performance.now() > until) throw new Error(`${program} does not answer`);
    await pause(100);
  }
  return {
    pid: child.pid,
    async stop() {
      kill("SIGTERM");
      const late = setTimeout(() => kill("SIGKILL"), 5000);
      await ended;
      clearTimeout(late);
      kill("SIGKILL");
    },
  };
}
