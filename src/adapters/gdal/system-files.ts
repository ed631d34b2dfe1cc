import { existsSync, lstatSync, readlinkSync } from "node:fs";
import path from "node:path";

/** The files of the machine that every confined program sees, read-only, under their own names. */
export interface SystemFiles {
  readonly paths: readonly string[];
  /** Links of the root folder, such as /lib to usr/lib: from, to. */
  readonly links: readonly (readonly [string, string])[];
  readonly devices: readonly string[];
}

const libraries = ["lib", "lib32", "lib64"];
const data = ["share/gdal", "share/proj"];
/** The index of the linker, and the libraries that Debian chooses by links in /etc (BLAS). */
const indexes = ["/etc/ld.so.cache", "/etc/alternatives"];
const devices = ["/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"];

/**
 * Finds the libraries, GDAL's and PROJ's data, and the programs themselves. Other folders of the
 * system are left out: /etc, /usr/src and /opt may hold an application's secrets.
 */
export function findSystemFiles(programs: readonly string[]): SystemFiles {
  const prefixes = ["/usr", "/usr/local", ...programs.map((file) => path.resolve(file, "../.."))];
  const below = prefixes
    .filter((prefix) => prefix !== "/")
    .flatMap((prefix) => [...libraries, ...data].map((name) => path.join(prefix, name)));
  const atRoot = libraries.map((name) => `/${name}`);
  const isLink = (file: string) => lstatSync(file).isSymbolicLink();
  const links = atRoot.filter((file) => existsSync(file) && isLink(file));
  const plain = atRoot.filter((file) => !links.includes(file));
  const wanted = new Set([...below, ...plain, ...indexes, ...programs]);
  return {
    paths: withoutNested([...wanted].filter((file) => existsSync(file))),
    links: links.map((file) => [file, readlinkSync(file)] as const),
    devices: devices.filter((file) => existsSync(file)),
  };
}

/** A path below another one is there already. */
function withoutNested(paths: readonly string[]): string[] {
  return paths.filter((file) => !paths.some((other) => file.startsWith(other + path.sep)));
}
