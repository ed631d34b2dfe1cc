/**
 * The peers of the platform's parts: TiTiler, TiPG, rio-cogeo and pypgstac, installed once from PyPI
 * into the user's cache folder, and started as their documentation advises.
 */
import { spawn } from "node:child_process";
import { cpus } from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { installPython } from "../../scripts/install-python.js";
import { freePort } from "./free-port.js";

const packages = [
  "titiler.core==2.4.0",
  "tipg==1.6.1",
  "rio-cogeo==7.0.4",
  "pypgstac[psycopg]==0.10.0",
  "uvicorn==0.54.0",
  "uvloop==0.23.0",
  "httptools==0.9.0",
];
const peersFolder = fileURLToPath(new URL("../peers/", import.meta.url));

let python = "python3";

/** Answers false where Python or PyPI is missing; then a bench runs without these peers. */
export function installGeoPeers() {
  try {
    python = path.join(installPython("geo-peers", packages), "python");
    return true;
  } catch (error) {
    process.stderr.write(`no peers: ${error.message}\n`);
    return false;
  }
}

/** Runs a module of Python to its end. */
export async function runPython(args, env = {}) {
  const child = spawn(python, args, {
    cwd: peersFolder,
    env: { ...process.env, ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let errors = "";
  child.stderr.on("data", (text) => (errors += text));
  const code = await new Promise((resolve) => child.once("exit", resolve));
  if (code !== 0) throw new Error(`${args.join(" ")} ended with ${code}:\n${errors.slice(-2000)}`);
}

/** A server of ASGI with one process for each core, uvloop and httptools. */
export async function startAsgi(app, env, readyPath) {
  const port = await freePort();
  const options = ["--port", String(port), "--loop", "uvloop", "--http", "httptools"];
  const workers = ["--workers", String(cpus().length), "--no-access-log", "--log-level", "error"];
  const child = spawn(python, ["-m", "uvicorn", app, ...options, ...workers], {
    cwd: peersFolder,
    env: { ...process.env, ...env },
    stdio: ["ignore", "inherit", "inherit"],
    detached: true,
  });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const end = () => {
    if (child.exitCode === null) process.kill(-child.pid, "SIGTERM");
  };
  process.once("exit", end);
  const base = `http://127.0.0.1:${port}`;
  while (
    !(await fetch(`${base}${readyPath}`).then(
      ({ ok }) => ok,
      () => false,
    ))
  ) {
    if (child.exitCode !== null) throw new Error(`${app} ended with ${child.exitCode}`);
    await pause(200);
  }
  return {
    base,
    async stop() {
      process.off("exit", end);
      end();
      await ended;
    },
  };
}
