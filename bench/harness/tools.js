/** Peers that npm does not have, installed once into the user's cache folder: from PyPI, or compiled with Go. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import { installPython } from "../../scripts/install-python.js";

/** Its server uses an argument that newer versions of FastAPI no longer have. */
const beside = ["asyncpg", "fastapi==0.139.0"];

const tools = {
  prefect: {
    version: "3.8.8",
    install: () => path.join(installPython("prefect", ["prefect==3.8.8", ...beside]), "prefect"),
  },
  // Compiling it takes some minutes.
  temporal: {
    version: "1.31.2",
    install: () =>
      installGo("temporal-1.31.2", [
        "go.temporal.io/server/cmd/server@v1.31.2",
        "go.temporal.io/server/cmd/tools/sql@v1.31.2",
      ]),
  },
};

/** Answers { path, version }, or { missing } with the reason: then the peer's rows say it. */
export function prepareTool(name) {
  const { version, install } = tools[name];
  try {
    return { path: install(), version };
  } catch (error) {
    return { missing: error.message };
  }
}

/** Answers the folder of the programs, which have the last names of their packages. */
function installGo(name, packages) {
  const cache = process.env.XDG_CACHE_HOME ?? path.join(homedir(), ".cache");
  const folder = path.join(cache, "rmhdag", name);
  const programs = packages.map((each) => /([^/]+)@/.exec(each)[1]);
  if (programs.every((program) => existsSync(path.join(folder, program)))) return folder;
  process.stderr.write(`compiling ${packages.join(", ")} into ${folder} (once)\n`);
  mkdirSync(folder, { recursive: true });
  const { status } = spawnSync("go", ["install", ...packages], {
    env: { ...process.env, GOBIN: folder },
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (status !== 0) throw new Error(`${name} is not installed: this needs Go and its module proxy`);
  return folder;
}
