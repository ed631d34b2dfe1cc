import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { GdalLimits } from "./limits.ts";
import { extraStreams, serveExtraStreams } from "./run-process.ts";
import type { Sandbox } from "./sandbox.ts";
import type { TaskFiles } from "./wasm-library.ts";

/**
 * The compiled file in dist/, also when this module runs from src/: a process runs JavaScript only.
 */
const processFile = fileURLToPath(
  import.meta.url
    .replace(/\/src\/(.*)start-wasm-process\.ts$/, "/dist/$1start-wasm-process.js")
    .replace(/start-wasm-process\.js$/, "wasm-process.js"),
);

/** What the process loads: our compiled files, their package.json, and the library. */
const home = path.resolve(processFile, "../../../..");
const manifest = path.join(home, "package.json");
const folders = [
  path.join(home, "dist"),
  path.dirname(createRequire(import.meta.url).resolve("gdal3.js/package.json")),
];

/**
 * Starts a process for the library. WebAssembly reaches only the files that we mount; the process
 * around it has an empty environment and, by Node.js's own permissions, the same files, no children,
 * no threads and no native modules.
 */
export function startWasmProcess(
  { workDir, sources }: TaskFiles,
  sandbox: Sandbox,
  limits: GdalLimits,
): ChildProcess {
  const files = sources.map(({ file }) => file);
  const inFolders = [...folders, workDir].map((folder) => `${folder}/*`);
  const args = [
    permissionFlag(process.versions.node),
    "--no-warnings",
    ...[...inFolders, manifest, ...files].map((file) => `--allow-fs-read=${file}`),
    `--allow-fs-write=${workDir}/*`,
    processFile,
  ];
  const command = sandbox.confine(
    { program: "node", file: process.execPath, args, env: {} },
    { workDir, sources: [...folders, manifest, ...files], limits },
  );
  // Inherits stderr, where Node.js writes the reason when the process crashes.
  const child = spawn(command.file, command.args, {
    cwd: workDir,
    env: {},
    detached: true,
    stdio: ["ignore", "ignore", "inherit", ...extraStreams(command), "ipc"],
  });
  serveExtraStreams(child, command);
  return child;
}

/** Releases before 22.13 and 23.5 call the permissions experimental. */
function permissionFlag(version: string): string {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const isOld = major < 22 || (major === 22 && minor < 13) || (major === 23 && minor < 5);
  return isOld ? "--experimental-permission" : "--permission";
}
