import { mkdir, stat } from "node:fs/promises";
import path from "node:path";
import { hasErrorCode } from "./error-code.ts";

/**
 * Makes a folder and the folders above it. Node's own recursive `mkdir` never returns where the file
 * system answers "no such folder" although the parent exists, as /proc and some network drives do:
 * it makes the parent again for ever.
 */
export async function makeFolder(folder: string, mode = 0o777): Promise<void> {
  try {
    await mkdir(folder, { mode });
  } catch (error) {
    if (hasErrorCode(error, "EEXIST") && (await isFolder(folder))) return;
    const parent = path.dirname(folder);
    if (!hasErrorCode(error, "ENOENT") || parent === folder) throw error;
    // Another caller may have made the parent by now, so the folder is tried once more in any case.
    await makeFolder(parent, mode);
    await mkdir(folder, { mode }).catch((again: unknown) => {
      if (!hasErrorCode(again, "EEXIST")) throw again;
    });
  }
}

async function isFolder(folder: string): Promise<boolean> {
  return stat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
