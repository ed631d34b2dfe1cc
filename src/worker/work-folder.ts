import { randomBytes } from "node:crypto";
import { mkdir, readdir, rm } from "node:fs/promises";
import path from "node:path";
import { hasErrorCode } from "../adapters/runtime/error-code.ts";
import { makeFolder } from "../adapters/runtime/make-folder.ts";

const pattern = /^(.+)\.(\d+)\.[0-9a-f]{6}$/;

/**
 * Creates the folder of this process, in which each task gets a folder. Removes the folders of killed
 * processes of this machine: their tasks are delivered again and start with empty folders.
 */
export async function makeWorkFolder(
  base: string,
  self: { readonly host: string; readonly pid: number },
): Promise<{ readonly folder: string; remove(): Promise<void> }> {
  await makeFolder(base);
  for (const name of await readdir(base)) {
    const [, host, pid] = pattern.exec(name) ?? [];
    // A folder with our own pid is of an earlier process: this one has only just started.
    const isGone = Number(pid) === self.pid || !isAlive(Number(pid));
    if (host === self.host && isGone) await remove(path.join(base, name));
  }
  const folder = path.join(base, `${self.host}.${self.pid}.${randomBytes(3).toString("hex")}`);
  await mkdir(folder);
  return { folder, remove: () => remove(folder) };
}

function remove(folder: string): Promise<void> {
  return rm(folder, { recursive: true, force: true });
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return hasErrorCode(error, "EPERM");
  }
}
