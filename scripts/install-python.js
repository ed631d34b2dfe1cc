/**
 * Installs packages of PyPI once into a virtual environment in the user's cache folder. Validators and
 * the peers of benchmarks come this way; the product needs no Python.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";

const cache = path.join(process.env.XDG_CACHE_HOME ?? path.join(homedir(), ".cache"), "rmhdag");

/**
 * Answers the folder of the programs (`python`, and those of the packages). Other packages get another
 * environment; one whose installation broke off is made again.
 */
export function installPython(name, packages) {
  const hash = createHash("sha256").update(packages.join()).digest("hex").slice(0, 12);
  const home = path.join(cache, `${name}-${hash}`);
  const bin = path.join(home, "bin");
  const mark = path.join(home, "installed");
  if (existsSync(mark)) return bin;
  process.stderr.write(`installing ${packages.join(", ")} into ${home} (once)\n`);
  rmSync(home, { recursive: true, force: true });
  mkdirSync(cache, { recursive: true });
  for (const [program, ...args] of [
    ["python3", "-m", "venv", home],
    [path.join(bin, "python"), "-m", "pip", "install", "--quiet", ...packages],
  ]) {
    const { status } = spawnSync(program, args, { stdio: ["ignore", "ignore", "inherit"] });
    if (status !== 0) {
      throw new Error(`${name} is not installed: this needs python3 with venv, and PyPI`);
    }
  }
  writeFileSync(mark, "");
  return bin;
}
