/**
 * Finds an initdb that runs also for a uid without a name.
 *
 * In a container that runs with `--user 4242` the uid is not in /etc/passwd. The server accepts
 * that, but initdb and the single-user server that it starts look up the name of their uid and fail
 * without one, although they do not use the name once `--username` is given. No option or variable
 * switches the lookup off. So for such a uid we make a private copy of these two programs in which
 * the imported function getpwuid is replaced by getpwent, which takes no argument and answers the
 * first entry of /etc/passwd. Both names have the same length and the same version in the C
 * library, so only these eight bytes change. The copies are deleted after initdb.
 */
import { chmod, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { userInfo } from "node:os";
import path from "node:path";
import type { Binaries } from "./find-binaries.ts";

const original = Buffer.from("\0getpwuid\0");
const replacement = Buffer.from("\0getpwent\0");

export async function withInitdb<T>(
  binaries: Binaries,
  workDirectory: string,
  use: (initdb: string) => Promise<T>,
): Promise<T> {
  // Root runs the server as `postgres`, which has an entry in /etc/passwd, or as the user `nobody`.
  const nameless = process.platform === "linux" && process.geteuid?.() !== 0 && !hasName();
  if (!nameless) return use(path.join(binaries.binDirectory, "initdb"));

  const copies = await mkdtemp(path.join(workDirectory, "initdb-"));
  try {
    await mkdir(path.join(copies, "bin"));
    for (const program of ["initdb", "postgres"]) {
      const copy = path.join(copies, "bin", program);
      await cp(path.join(binaries.binDirectory, program), copy);
      await replaceImport(copy);
      await chmod(copy, 0o700);
    }
    // Both find their libraries and files relative to their own path.
    for (const folder of ["lib", "share"]) {
      await symlink(path.join(binaries.binDirectory, "..", folder), path.join(copies, folder));
    }
    return await use(path.join(copies, "bin/initdb"));
  } finally {
    await rm(copies, { recursive: true, force: true });
  }
}

function hasName(): boolean {
  try {
    userInfo();
    return true;
  } catch {
    return false;
  }
}

async function replaceImport(program: string): Promise<void> {
  const bytes = await readFile(program);
  for (let at = bytes.indexOf(original); at !== -1; at = bytes.indexOf(original, at + 1)) {
    replacement.copy(bytes, at);
  }
  await writeFile(program, bytes);
}
