// Checks the files of deploy/ and the CI workflow with the schemas and the grammar of their makers:
//   npm run test:deployment
// The checkers come from PyPI into a virtual environment in the user's cache folder. Bicep's own linter is
// in no registry, so its files are only parsed.
import { spawnSync } from "node:child_process";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { installPython } from "./install-python.js";

const packages = [
  "check-jsonschema==0.39.0",
  "kubernetes-validate==1.37.0",
  "tree-sitter==0.26.0",
  "tree-sitter-bicep==1.1.0",
];
const root = fileURLToPath(new URL("..", import.meta.url));
const bin = installPython("deployment", packages);

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
  const { status } = spawnSync(path.join(bin, program), args, { cwd: root, stdio: "inherit" });
  if (status !== 0) failed = true;
}
process.exitCode = failed ? 1 : 0;
