import { constants, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { readOnlyFile } from "./wasm-source-file.ts";
import type { FileNode, FileSystem } from "./wasm-source-file.ts";

type Scalar = "number" | "string" | null;
export type Pointer = number;

/**
 * The members of the compiled library that we use; the package's own wrapper hides its file system.
 */
export interface Library {
  ccall(
    name: string,
    returns: "number",
    types: readonly Scalar[],
    args: readonly unknown[],
  ): number;
  ccall(
    name: string,
    returns: "string",
    types: readonly Scalar[],
    args: readonly unknown[],
  ): string;
  ccall(name: string, returns: null, types: readonly Scalar[], args: readonly unknown[]): undefined;
  addFunction(callback: (...args: number[]) => number, signature: string): Pointer;
  _malloc(bytes: number): Pointer;
  _free(pointer: Pointer): void;
  setValue(pointer: Pointer, value: number, type: "*" | "double"): void;
  getValue(pointer: Pointer, type: "double"): number;
  lengthBytesUTF8(text: string): number;
  stringToUTF8(text: string, pointer: Pointer, bytes: number): void;
  readonly NODEFS: object;
  readonly FS: FileSystem & {
    mkdirTree(folder: string): void;
    mount(type: object, options: { root: string }, at: string): void;
    chdir(folder: string): void;
    create(name: string, mode: number): FileNode;
  };
}

type Load = (given: object) => Promise<Library>;

/** The files that the library sees, besides its own. */
export interface TaskFiles {
  readonly workDir: string;
  /** Files that it can read: the name in arguments, and the path without links. */
  readonly sources: readonly { readonly name: string; readonly file: string }[];
}

/** Loads the library with its output streams and environment, and with the files of the task. */
export async function loadLibrary(given: {
  readonly env: Readonly<Record<string, string>>;
  readonly files: TaskFiles;
  readonly onOutput: (line: string) => void;
  readonly onError: (line: string) => void;
}): Promise<Library> {
  // The library asks it for the numbers of flags, and Node.js refuses it to a process with limits.
  Object.defineProperty(process, "binding", { value: () => ({ fs: constants }) });
  const require = createRequire(import.meta.url);
  const home = path.dirname(require.resolve("gdal3.js/package.json"));
  const load = require("gdal3.js/build/package/gdal3WebAssembly.js") as Load;
  const folder = path.join(home, "dist/package");
  const library = await load({
    print: given.onOutput,
    printErr: given.onError,
    locateFile: (name: string) => path.join(folder, path.basename(name)),
    getPreloadedPackage: (name: string) => {
      const bytes = readFileSync(path.join(folder, path.basename(name)));
      return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
    },
    preRun: [
      ({ ENV }: { ENV: Record<string, string> }) => {
        Object.assign(ENV, given.env, {
          PROJ_LIB: "/usr/share/proj",
          GDAL_DATA: "/usr/share/gdal",
          GDAL_NUM_THREADS: "0",
        });
      },
    ],
  });
  mountFiles(library, given.files);
  return library;
}

/** Paths are the same inside and outside, so that arguments need no translation. */
function mountFiles({ FS, NODEFS }: Library, { workDir, sources }: TaskFiles): void {
  FS.mkdirTree(workDir);
  FS.mount(NODEFS, { root: workDir }, workDir);
  for (const { name, file } of sources) {
    FS.mkdirTree(path.dirname(name));
    Object.assign(FS.create(name, 0o444), readOnlyFile(FS, file));
  }
}
