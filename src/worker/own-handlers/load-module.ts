import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { isHandler } from "../define-handler.ts";
import type { Handler } from "../define-handler.ts";
import * as api from "../api.ts";

const shared = Symbol.for("rmhdag.worker");

/**
 * Loads the handlers that a module exports, TypeScript or JavaScript. Its own files are bundled into
 * one, so that a change of any of them is loaded; packages are left to Node. `rmhdagmaster/worker`
 * becomes the copy of this process.
 */
export async function loadModule(file: string, cacheFolder: string): Promise<Handler[]> {
  Object.assign(globalThis, { [shared]: api });
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    entryPoints: [file],
    bundle: true,
    write: false,
    format: "esm",
    platform: "node",
    target: "node20",
    sourcemap: "inline",
    logLevel: "silent",
    packages: "external",
    plugins: [
      {
        name: "this worker",
        setup(build) {
          build.onResolve({ filter: /^rmhdagmaster\/worker$/ }, ({ path: name }) => ({
            path: name,
            namespace: "rmhdag",
          }));
          build.onLoad({ filter: /.*/, namespace: "rmhdag" }, () => ({
            contents: Object.keys(api)
              .map(
                (name) => `export const ${name} = globalThis[Symbol.for("rmhdag.worker")].${name};`,
              )
              .join("\n"),
          }));
        },
      },
    ],
  });
  const [output] = outputFiles;
  if (output === undefined) throw new Error("The module gave no code.");
  const folder = besidePackages(path.dirname(file)) ?? cacheFolder;
  await mkdir(folder, { recursive: true });
  const hash = createHash("sha256").update(output.contents).digest("hex").slice(0, 16);
  // Another name for other code: Node never loads a module of one name twice.
  const built = path.join(folder, `${path.parse(file).name}.${process.pid}.${hash}.mjs`);
  await writeFile(built, output.contents);
  try {
    const loaded = (await import(pathToFileURL(built).href)) as Record<string, unknown>;
    return [...new Set(Object.values(loaded).flat().filter(isHandler))];
  } finally {
    await rm(built, { force: true });
  }
}

/** Inside the nearest `node_modules`, from where the packages of the module are found. */
function besidePackages(folder: string): string | undefined {
  for (let at = folder; ; at = path.dirname(at)) {
    const packages = path.join(at, "node_modules");
    if (existsSync(packages)) return path.join(packages, ".cache", "rmhdag-handlers");
    if (path.dirname(at) === at) return undefined;
  }
}
