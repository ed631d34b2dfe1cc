import { readFileSync, readdirSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

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
  readonly FS: {
    mkdirTree(folder: string): void;
    mount(type: object, options: { root: string }, at: string): void;
    chdir(folder: string): void;
    analyzePath(name: string): { exists: boolean };
  };
}

type Load = (given: object) => Promise<Library>;

/** Folders that are not mounted: the library's own files are there, or no source can be. */
const notMounted = new Set(["dev", "proc", "sys", "usr", "boot"]);

/** Loads the library with its output streams and environment, and mounts the machine's folders. */
export async function loadLibrary(given: {
  readonly env: Readonly<Record<string, string>>;
  readonly onOutput: (line: string) => void;
  readonly onError: (line: string) => void;
}): Promise<Library> {
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
  mountMachine(library);
  library.ccall("GDALAllRegister", null, [], []);
  return library;
}

/** Mounts the folders of / under the same names, so that paths in arguments need no translation. */
function mountMachine(library: Library): void {
  for (const name of readdirSync("/")) {
    const folder = `/${name}`;
    if (notMounted.has(name) || !statSync(folder).isDirectory()) continue;
    mount(library, folder);
  }
}

function mount(library: Library, folder: string): void {
  if (!library.FS.analyzePath(folder).exists) library.FS.mkdirTree(folder);
  library.FS.mount(library.NODEFS, { root: folder }, folder);
}
