// Checks the files of deploy/ and the CI workflow with the schemas and the grammar of their makers:
//   npm run test:deployment
// The checkers come from PyPI into a virtual environment in the user's cache folder. Bicep's own linter is
// in no registry, so its files are only parsed.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const packages = [
  "check-jsonschema==0.39.0",
  "kubernetes-validate==1.37.0",
  "tree-sitter==0.26.0",
  "tree-sitter-bicep==1.1.0",
];
const root = fileURLToPath(new URL("..", import.meta.url));
const bin = (name) => path.join(environment, "bin", name);
const environment = install();

const checks = [
  [
    "compose",
    "check-jsonschema",
    ["--builtin-schema", "vendor.compose-spec", "deploy/compose.yaml"],
  ],
  [
    "CI workflow",
    "check-jsonschema",
    ["--builtin-schema", "vendor.github-workflows", ".github/workflows/ci.yml"],
  ],
  ["Kubernetes and Bicep", "python3", ["scripts/check-deployment.py"]],
];
let failed = false;
for (const [what, program, args] of checks) {
  process.stdout.write(`${what}\n`);
  const { status } = spawnSync(bin(program), args, { cwd: root, stdio: "inherit" });
  if (status !== 0) failed = true;
}
process.exitCode = failed ? 1 : 0;

/** Answers the folder of the virtual environment. */
function install() {
  const cache = process.env.XDG_CACHE_HOME ?? path.join(homedir(), ".cache");
  const name = createHash("sha256").update(packages.join()).digest("hex").slice(0, 12);
  const target = path.join(cache, "rmhdag", `deployment-${name}`);
  if (existsSync(path.join(target, "bin/check-jsonschema"))) return target;
  mkdirSync(path.dirname(target), { recursive: true });
  const steps = [
    ["python3", ["-m", "venv", target]],
    [path.join(target, "bin/pip"), ["install", "--quiet", ...packages]],
  ];
  for (const [command, args] of steps) {
    if (spawnSync(command, args, { stdio: "inherit" }).status === 0) continue;
    rmSync(target, { recursive: true, force: true });
    process.stderr.write("This needs Python 3.11 or newer with venv, and PyPI.\n");
    process.exit(2);
  }
  return target;
}
