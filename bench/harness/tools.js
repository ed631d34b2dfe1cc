/** Peers that npm does not have, installed once into the user's cache folder: Prefect from PyPI. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";

const cache = path.join(
  process.env.XDG_CACHE_HOME ?? path.join(homedir(), ".cache"),
  "rmhdag-bench",
);

/** Its server uses an argument that newer versions of FastAPI no longer have. */
const beside = ["asyncpg", "fastapi==0.139.0"];

const tools = {
  prefect: {
    version: "3.8.8",
    file: path.join(cache, "prefect/bin/prefect"),
    install({ version, file }) {
      const folder = path.dirname(path.dirname(file));
      run("python3", ["-m", "venv", folder]);
      run(path.join(folder, "bin/pip"), ["install", "-q", `prefect==${version}`, ...beside]);
    },
  },
};

/** Answers { path, version }, or { missing } with the reason: then the peer's rows say it. */
export function prepareTool(name, say) {
  const tool = tools[name];
  const { file, version } = tool;
  if (!existsSync(file)) {
    say(`installing ${name} ${version} into ${cache} (once)`);
    try {
      tool.install(tool);
    } catch (error) {
      return { missing: `not installed: ${error.message.split("\n")[0]}` };
    }
  }
  return { path: file, version };
}

function run(program, args) {
  execFileSync(program, args, { stdio: ["ignore", "ignore", "pipe"], timeout: 5 * 60_000 });
}
